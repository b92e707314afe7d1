"""Some thirty questions to an adapter that is being written: what works, what is wrong, what to do.

`questions` names the modules that hold them, each question a case; `examination` puts them to a
worker process, so that a crash or a hang costs one question.
"""

from sessrun.conformance.doctor.examination import Examination, examine
from sessrun.conformance.doctor.question import Answer, Question

__all__ = ["Answer", "Examination", "Question", "examine"]
