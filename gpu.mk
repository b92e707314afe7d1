# The day a GPU is there: four parts of ten minutes at most, into one folder, and the page that shows it (docs/gpu.md).
# Each part goes on where it was cut. `GPU=simulated` rehearses them on a machine without a GPU.
GPU_OUT   := $(OUT)/gpu
GPU_PARTS := survey certify bench profile
GPU_VENV  := $(if $(filter simulated,$(GPU)),$(VENV),.venv-gpu)
GPU_READY := $(if $(filter simulated,$(GPU)),$(VENV)/certify-reference.stamp,.venv-gpu/ready.stamp)
GPU_PYTHON = $(GPU_VENV)/bin/python

.PHONY: gpu gpu-report gpu-needed wheels $(GPU_PARTS:%=gpu-%)

# What one part did not end is left to its next try; the others go on, and the page says what is missing.
gpu: gpu-needed
	-@for part in $(GPU_PARTS); do $(MAKE) --no-print-directory gpu-$$part; done
	$(MAKE) --no-print-directory gpu-report

$(GPU_PARTS:%=gpu-%): gpu-%: gpu-needed $(GPU_READY)
	$(GPU_PYTHON) -m sessrun.conformance.gpu_day $* $(GPU_OUT) $(if $(filter simulated,$(GPU)),--simulated) \
	  $(if $(GPU_PROFILES),--profiles $(GPU_PROFILES))

gpu-report: $(GPU_READY)
	$(GPU_PYTHON) -m sessrun.cli.main report gpu $(GPU_OUT) --output $(GPU_OUT)/index.html

gpu-needed:
	@test "$(GPU)" = simulated || nvidia-smi -L >/dev/null 2>&1 || { \
	  echo 'make gpu: nvidia-smi finds no GPU here; `make gpu GPU=simulated` rehearses everything without one.' >&2; exit 1; }

# The Python of a machine with a GPU has cupy, CUDA's libraries and their peers, and perhaps no network: what it lacks
# of ours lies in wheels/. Its packages are seen too where it is the Python of a virtual environment.
.venv-gpu/ready.stamp: pyproject.toml
	$(PYTHON) -m venv --system-site-packages .venv-gpu || $(PYTHON) -m venv --system-site-packages --without-pip .venv-gpu
	$(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), sep="\n")' \
	  >"$$(.venv-gpu/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/outer.pth"
	{ ls wheels/*.whl >/dev/null 2>&1 && \
	  .venv-gpu/bin/python -m pip install --quiet --upgrade --no-index --find-links wheels $(WHEELS) && \
	  .venv-gpu/bin/python -m pip install --quiet --no-index --no-deps --no-build-isolation --editable .; } || \
	  .venv-gpu/bin/python -m pip install --quiet --editable '.[gpu]'
	-.venv-gpu/bin/python -m pip check
	touch $@

# What images for GPUs lack of our dependencies, for a Python that this one need not be.
WHEELS       := jsonschema jsonschema-rs setuptools
WHEELS_FOR   := 3.12
WHEELS_LIBCS := 2_17 2_24 2_27 2_28 2_31 2_34
wheels: $(VENV)/bin/python
	$(BIN)/python -m pip download --quiet --only-binary=:all: --implementation cp --python-version $(WHEELS_FOR) \
	  $(WHEELS_LIBCS:%=--platform manylinux_%_x86_64) --platform manylinux2014_x86_64 --dest wheels $(WHEELS)
	du -sh wheels
