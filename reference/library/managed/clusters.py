"""`tf.train.ClusterSpec`: the jobs of a cluster and the addresses of their tasks. Of TF 2.21."""

from __future__ import annotations

from sessrun.reference.public import public
from sessrun.spec.proto import ClusterDef, JobDef, ServerDef
from sessrun.spec.proto.foreign import adopt

__all__ = ["ClusterSpec"]


@public("train.ClusterSpec")
class ClusterSpec:
    """The jobs of a cluster: each has tasks, with an index and an address.

    Args:
      cluster: a dictionary from jobs to lists of addresses, or to dictionaries from indices to
        addresses; or a ClusterDef or another ClusterSpec.

    Raises:
      TypeError: the argument has another type, or a name or an address is not a string.

    """

    def __init__(self, cluster: object) -> None:
        self._jobs: dict[str, dict[int, str]]
        if isinstance(cluster, dict):
            self._jobs = {name: _tasks(name, tasks) for name, tasks in cluster.items()}
            self._cluster_def = self._to_cluster_def()
            return
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_cluster_def()
        try:
            self._cluster_def = adopt(cluster, ClusterDef)
        except (TypeError, ValueError):
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network "
                "addresses, or a `ClusterDef` protocol buffer"
            ) from None
        self._jobs = {job.name: dict(job.tasks.items()) for job in self._cluster_def.job}

    def _to_cluster_def(self) -> ClusterDef:
        cluster_def = ClusterDef()
        for name, tasks in sorted(self._jobs.items()):
            job = cluster_def.job.add(name=_text(name, "Job name"))
            for index, address in sorted(tasks.items()):
                job.tasks[index] = _text(address, "Task address")
        return cluster_def

    def __bool__(self) -> bool:
        """Whether there is a job."""
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same jobs with the same tasks; a dictionary may be compared."""
        return self._jobs == (other._jobs if isinstance(other, ClusterSpec) else other)

    __hash__ = None  # type: ignore[assignment]  # as every class with an equality of its own

    def __repr__(self) -> str:
        """The jobs and their tasks."""
        jobs = self.as_dict()
        return "ClusterSpec({" + ", ".join(f"{k!r}: {jobs[k]!r}" for k in sorted(jobs)) + "})"

    def as_dict(self) -> dict[str, list[str | None] | dict[int, str]]:
        """A dictionary from jobs to lists of addresses; to dictionaries where indices lack."""
        jobs: dict[str, list[str | None] | dict[int, str]] = {}
        for job, tasks in self._jobs.items():
            is_dense = bool(tasks) and max(tasks) + 1 == len(tasks)
            jobs[job] = self.job_tasks(job) if is_dense else dict(sorted(tasks.items()))
        return jobs

    def as_cluster_def(self) -> ClusterDef:
        """The same as a message."""
        return self._cluster_def

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """How many tasks a job has.

        Raises:
          ValueError: there is no such job.

        """
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The indices of a job's tasks, in order.

        Raises:
          ValueError: there is no such job.

        """
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task.

        Raises:
          ValueError: there is no such job or task.

        """
        try:
            address: str = self._job(job_name)[task_index]
        except KeyError:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}") from None
        return address

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job's tasks by their indices; None for an index without a task.

        Raises:
          ValueError: there is no such job, or it has no tasks.

        """
        tasks = self._job(job_name)
        return [tasks.get(index) for index in range(max(tasks) + 1)]

    def _job(self, name: str) -> dict[int, str]:
        try:
            return self._jobs[name]
        except KeyError:
            raise ValueError(f"No such job in cluster: {name!r}") from None


def _tasks(job: str, tasks: object) -> dict[int, str]:
    if isinstance(tasks, list | tuple):
        return dict(enumerate(tasks))
    if isinstance(tasks, dict):
        return {int(index): address for index, address in tasks.items()}
    raise TypeError(
        f"The tasks for job {job!r} must be a list or a dictionary from integers to strings."
    )


def _text(value: object, what: str) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, str):
        return value
    raise TypeError(f"{what} {value!r} must be bytes or unicode")


public("train.ClusterDef")(ClusterDef)
public("train.JobDef")(JobDef)
public("train.ServerDef")(ServerDef)
