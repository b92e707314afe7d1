"""The page of a GPU: what `make gpu` found, one self-contained file, light and dark, narrow too.

What is missing is said where it would stand. Of a simulated GPU no time is shown at all: there it
would be numpy's on the host.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, Final

from sessrun.reports.certificate import Certificate
from sessrun.reports.device_words import throttled
from sessrun.reports.gpu_folder import GpuFolder
from sessrun.reports.gpu_plots import counts_plot, roofline_plot, states_plot
from sessrun.reports.gpu_tables import (
    ceiling_rows,
    counted_jobs,
    families,
    kernel_rows,
    launches,
    left_out,
    rounds,
)
from sessrun.reports.html import FACES, content_policy, flat, template, template_text
from sessrun.reports.kernel_profile import heaviest
from sessrun.reports.printable import number, printable, shortened

__all__ = ["gpu_html"]

#: Style class and mark of a step's state.
_STATES: Final = {
    "done": ("holds", "✓"),
    "answered no": ("broken", "✗"),
    "failed": ("broken", "✗"),
    "out of time": ("open", "?"),
    "absent": ("idle", "-"),
}
#: Causes of failures that a certificate's row names.
_CAUSES: Final = 5
_NO_TIMES: Final = (
    "A simulated GPU has no speed: what was timed is numpy on the host, and is not shown."
)


def gpu_html(day: GpuFolder) -> str:
    """The page.

    Args:
      day: the folder, as `sessrun.reports.gpu_folder.read_gpu_folder` gives it.

    """
    style = template_text("style.css") + template_text("bench.css") + template_text("gpu.css")
    page: str = template("gpu.html.j2").render(
        title=f"sess.run on {_device(day)}",
        style=style,
        policy=content_policy(style),
        simulated=day.simulated,
        no_times=_NO_TIMES,
        facts=_facts(day),
        problems=[(printable(file), shortened(why, 400)) for file, why in day.problems.items()],
        steps=[_step(step) for step in day.steps],
        certificates=[_certificate(name, it) for name, it in day.certificates.items()],
        begun=[
            (shortened(name, 40), f"{done:,} of {planned:,}")
            for name, (done, planned) in day.begun.items()
        ],
        smoke=_smoke(day),
        counts=_counts(day),
        times={} if day.simulated else _times(day),
        sanitizers=[(name, shortened(said, 300)) for name, said in day.sanitizers.items()],
        packages=_packages(day),
    )
    return page


def _device(day: GpuFolder) -> str:
    """The GPU's name, as the driver or a run has it."""
    if day.simulated:
        return "a SIMULATED GPU"
    names = [str(gpu["name"]) for gpu in (day.survey or {}).get("gpus", ()) if "name" in gpu]
    names += [str(run["device"]["name"]) for run in day.measured.values()]
    return shortened(names[0], 80) if names else "a GPU of unknown name"


def _facts(day: GpuFolder) -> list[tuple[str, str]]:
    """What the survey and the first run say of the machine."""
    facts: dict[str, str] = {}
    survey = day.survey or {}
    for index, gpu in enumerate(survey.get("gpus", ())):
        facts[f"GPU {index}"] = shortened(gpu.get("name", "unknown"), 80)
        wanted = {
            "Driver": "driver_version",
            "Memory": "memory.total",
            "Capability": "compute_cap",
            "Power limit": "power.limit",
            "Highest SM clock": "clocks.max.sm",
            "Highest memory clock": "clocks.max.mem",
            "ECC": "ecc.mode.current",
        }
        facts |= {name: shortened(gpu[key], 60) for name, key in wanted.items() if key in gpu}
    runs = list(day.benches.values())
    gpu_facts = runs[0]["fingerprint"].get("gpu") if runs and not day.simulated else None
    if isinstance(gpu_facts, Mapping):
        shown = {str(key): shortened(flat(value), 80) for key, value in gpu_facts.items()}
        facts |= {_label(key): value for key, value in shown.items() if key != "name"}
    if runs:
        facts["Begun"] = (
            shortened(runs[0]["started"], 40).replace("T", " ").replace("+00:00", " UTC")
        )
    machine = survey.get("machine")
    if isinstance(machine, Mapping):
        wanted = {"Processor": "processor", "System": "system", "Python": "python"}
        facts |= {
            name: shortened(machine[key], 90) for name, key in wanted.items() if key in machine
        }
    if survey:
        facts["Backend"] = shortened(survey["backend"], 60)
    for name, answer in day.peers.items():
        facts[shortened(name, 20)] = shortened(answer, 200)
    return list(facts.items())


def _label(name: str) -> str:
    words = {"cuda": "CUDA", "cupy": "cupy", "cublas": "cuBLAS", "cudnn": "cuDNN"}
    return words.get(name, name.replace("_", " ").capitalize())


def _packages(day: GpuFolder) -> str:
    packages = (day.survey or {}).get("packages", {})
    return ", ".join(f"{shortened(k, 40)} {shortened(v, 30)}" for k, v in packages.items())


def _step(step: Any) -> dict[str, str]:
    style, mark = _STATES.get(step.state, ("open", "?"))
    return {
        "name": shortened(step.step, 60),
        "part": shortened(step.part, 20),
        "style": style,
        "mark": mark,
        "state": shortened(step.state, 20),
        "seconds": f"{step.seconds:,.1f} s",
        "says": shortened(step.says, 300),
    }


def _certificate(name: str, certificate: Certificate) -> dict[str, Any]:
    summary = certificate.summary
    style, glyph = FACES.get(summary.verdict, FACES["VOID"])
    required = summary.required
    causes = [group.title for group in summary.failures[:_CAUSES]]
    more = len(summary.failures) - len(causes)
    return {
        "profile": shortened(name, 40),
        "verdict": summary.verdict,
        "style": style,
        "glyph": glyph,
        "clauses": f"{required['holds'] - required['in part']:,} of {required['total']:,} hold"
        + _beside({"not applicable here": required["not applicable here"]}),
        "cases": f"{summary.counts['pass']:,} of {summary.planned:,} passed"
        + _beside({name: n for name, n in summary.counts.items() if name != "pass"}),
        "reasons": [printable(reason) for reason in summary.reasons[:2]],
        "causes": [shortened(cause, 200) for cause in causes],
        "more": number(more, "more cause") if more > 0 else "",
        "seed": str(summary.header["plan"]["seed"]),
        "command": f"sessrun verify {shlex.quote(f'certify/{name}/package.zip')}",
    }


def _beside(counts: Mapping[str, int]) -> str:
    """What is there besides, to be appended: `, 2 skipped`."""
    return "".join(f", {count:,} {name}" for name, count in counts.items() if count)


def _smoke(day: GpuFolder) -> dict[str, Any]:
    wrong = [program for program in day.programs if not program.passed]
    return {
        "all": len(day.programs),
        "passed": len(day.programs) - len(wrong),
        "wrong": [(shortened(p.name, 60), shortened(p.wrong, 500)) for p in wrong],
    }


def _counts(day: GpuFolder) -> dict[str, Any]:
    """Launches and copies of one call: counted, so that they are shown of a simulated GPU too."""
    runs = day.benches if day.counts is None else {**day.benches, "counts": day.counts}
    counted = launches(runs)
    return {
        "rows": counted_jobs(runs),
        "plot": counts_plot(counted, "launches") if counted else None,
    }


def _times(day: GpuFolder) -> dict[str, Any]:
    """Everything that was timed on a GPU."""
    runs = day.measured
    ceilings: Mapping[str, float] = next(
        (run["ceilings"] for run in runs.values() if run.get("ceilings")), {}
    )
    heavy = {job: heaviest(kernels) for job, kernels in day.kernels.items()}
    profiles = []
    for index, (job, kernels) in enumerate(heavy.items()):
        spots = [kernel for kernel in kernels if kernel.intensity is not None and kernel.seconds]
        drawn = "bytes" in ceilings and any(key.startswith("flops") for key in ceilings)
        profiles.append(
            {
                "job": shortened(job, 60),
                "plot": roofline_plot(ceilings, spots, f"roof{index}") if drawn else None,
                "rows": kernel_rows(kernels, spots, day.kernels[job], ceilings),
            }
        )
    states = [state for run in runs.values() for state in run.get("states", ())]
    return {
        "ceilings": ceiling_rows(runs),
        "profiles": profiles,
        "families": families({name: run for name, run in runs.items() if name != "ceilings"}),
        "left_out": left_out(runs),
        "states": states_plot(states, "states") if states else None,
        "rounds": rounds(runs),
        "held": throttled(states),
        "unclear": [shortened(name, 60) for name in day.benches if name not in runs],
    }
