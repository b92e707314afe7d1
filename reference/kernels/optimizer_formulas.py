"""The formulas of optimizers, one for all forms of an update rule.

A formula takes the numbers of its operation (`h`), the gradient, the variable and the slots in the
order of the inputs, and updates the arrays in place. It is called with blocks of them that fit into
the processor's cache, so that temporaries never leave it, or with rows of them for the
sparse forms. For a million float32 Ftrl takes 3.5 times TensorFlow's time, since each of its 15
operations is a pass over the block, the others at most 3 times; float16 takes 8 to 18 times,
Ftrl 1.2, since each operation is rounded on its own (`half_arrays.py`; with numpy's float16 it was
15 to 80). `kernels/optimizer_steps.py` applies the formulas.
"""

from __future__ import annotations

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.formulas import Numbers
from sessrun.reference.kernels.optimizer_steps import formula


@formula("GradientDescent")
def gradient_descent(h: Numbers, grad: Array, var: Array) -> None:
    """A step down the gradient."""
    var -= grad * h.alpha


@formula("Momentum")
def momentum(h: Numbers, grad: Array, var: Array, accum: Array) -> None:
    """Down a decaying sum of gradients; Nesterov's looks one step ahead."""
    accum *= h.momentum
    accum += grad
    if h.use_nesterov:
        var -= grad * h.lr + accum * h.momentum * h.lr
    else:
        var -= accum * h.lr


@formula("KerasMomentum")
def keras_momentum(h: Numbers, grad: Array, var: Array, accum: Array) -> None:
    """As momentum, with the learning rate within the sum, which has the opposite sign."""
    step = grad * h.lr
    accum *= h.momentum
    accum -= step
    if h.use_nesterov:
        var += accum * h.momentum - step
    else:
        var += accum


def _moments(h: Numbers, grad: Array, m: Array, v: Array) -> Array:
    """Update both moments; returns the learning rate with the correction of their bias."""
    change = grad - m
    change *= h.one - h.beta1  # in place: temporaries stay in the cache
    m += change
    change = grad * grad
    change -= v
    change *= h.one - h.beta2
    v += change
    alpha: Array = h.lr * h.xp.sqrt(h.one - h.beta2_power) / (h.one - h.beta1_power)
    return alpha


@formula("Adam")
def adam(h: Numbers, grad: Array, var: Array, m: Array, v: Array) -> None:
    """Down the first moment over the root of the second; epsilon is outside of the root."""
    alpha = _moments(h, grad, m, v)
    first = grad * (h.one - h.beta1) + m * h.beta1 if h.use_nesterov else m
    root = h.xp.sqrt(v)
    root += h.epsilon
    step = first * alpha
    step /= root
    var -= step


@formula("AdamWithAmsgrad")
def adam_with_amsgrad(h: Numbers, grad: Array, var: Array, m: Array, v: Array, vhat: Array) -> None:
    """As Adam, with the greatest second moment so far."""
    alpha = _moments(h, grad, m, v)
    h.xp.maximum(vhat, v, out=vhat)
    var -= m * alpha / (h.xp.sqrt(vhat) + h.epsilon)


@formula("AdaMax")
def adamax(h: Numbers, grad: Array, var: Array, m: Array, v: Array) -> None:
    """Down the first moment over a decaying maximum of the gradients' sizes."""
    m += (grad - m) * (h.one - h.beta1)
    v *= h.beta2
    h.xp.maximum(v, h.xp.abs(grad), out=v)
    var -= m / (v + h.epsilon) * (h.lr / (h.one - h.beta1_power))


@formula("RMSProp")
def rms_prop(h: Numbers, grad: Array, var: Array, ms: Array, mom: Array) -> None:
    """Down the gradient over the root of its decaying mean square, epsilon within the root."""
    ms += (grad * grad - ms) * (h.one - h.rho)
    mom *= h.momentum
    mom += grad * h.lr / h.xp.sqrt(ms + h.epsilon)
    var -= mom


@formula("CenteredRMSProp")
def centered_rms_prop(
    h: Numbers, grad: Array, var: Array, mg: Array, ms: Array, mom: Array
) -> None:
    """As RMSProp, with the variance: the mean square minus the square of the mean."""
    ms += (grad * grad - ms) * (h.one - h.rho)
    mg += (grad - mg) * (h.one - h.rho)
    mom *= h.momentum
    mom += grad * h.lr / h.xp.sqrt(ms - mg * mg + h.epsilon)
    var -= mom


@formula("Adagrad")
def adagrad(h: Numbers, grad: Array, var: Array, accum: Array) -> None:
    """Down the gradient over the root of the sum of its squares."""
    if h.update_slots:
        accum += grad * grad
    var -= grad * h.lr / h.xp.sqrt(accum)


@formula("AdagradV2")
def adagrad_v2(h: Numbers, grad: Array, var: Array, accum: Array) -> None:
    """As Adagrad, with an epsilon added to the root."""
    if h.update_slots:
        accum += grad * grad
    var -= grad * h.lr / (h.xp.sqrt(accum) + h.epsilon)


@formula("AdagradDA")
def adagrad_da(h: Numbers, grad: Array, var: Array, total: Array, squares: Array) -> None:
    """The minimum of the regularized sum of all gradients so far (dual averaging)."""
    total += grad
    squares += grad * grad
    steps = h.global_step.astype(h.one.dtype)
    shrunk = total
    if h.l1 > 0:
        shrunk = h.xp.sign(total) * h.xp.maximum(h.xp.abs(total) - steps * h.l1, h.zero)
    var[...] = shrunk * -h.lr / (h.xp.sqrt(squares) + h.l2 * steps * h.lr)


@formula("Adadelta")
def adadelta(h: Numbers, grad: Array, var: Array, accum: Array, accum_update: Array) -> None:
    """Down the gradient, scaled by the ratio of the root mean squares of steps and gradients."""
    rest = h.one - h.rho
    accum *= h.rho
    accum += grad * grad * rest
    step = h.xp.sqrt(accum_update + h.epsilon) / h.xp.sqrt(accum + h.epsilon) * grad
    var -= step * h.lr
    accum_update *= h.rho
    accum_update += step * step * rest


@formula("Ftrl", "FtrlV2")
def ftrl(h: Numbers, grad: Array, var: Array, accum: Array, linear: Array) -> None:
    """The minimum of the linearized losses so far with both norms; the step decays by a power."""
    xp = h.xp
    pulled = grad + var * (h.l2_shrinkage + h.l2_shrinkage) if h.has("l2_shrinkage") else grad
    before = _power(h, accum)
    accum += grad * grad
    after = _power(h, accum)
    l1, l2 = h.l1, h.l2 + h.l2
    if h.multiply_linear_by_lr:
        linear += pulled * h.lr - (after - before) * var
        l1, l2 = l1 * h.lr, l2 * h.lr
    else:
        linear += pulled - (after - before) / h.lr * var
        after = after / h.lr
    shrunk = (xp.sign(linear) * l1 - linear) / (after + l2)
    var[...] = xp.where(xp.abs(linear) > l1, shrunk, h.zero)


def _power(h: Numbers, accum: Array) -> Array:
    half = h.one / (h.one + h.one)
    power: Array = h.xp.sqrt(accum) if h.lr_power == -half else accum**-h.lr_power
    return power


def _proximal(h: Numbers, var: Array, rate: Array) -> None:
    """Shrink the variable toward zero by both norms at this rate."""
    if h.l1 > 0:
        pull = rate * h.l1
        var -= h.xp.minimum(h.xp.maximum(var, -pull), pull)
    var /= rate * h.l2 + h.one


@formula("ProximalGradientDescent")
def proximal_gradient_descent(h: Numbers, grad: Array, var: Array) -> None:
    """A step down the gradient, then shrinkage."""
    var -= grad * h.alpha
    _proximal(h, var, h.alpha)


@formula("ProximalAdagrad")
def proximal_adagrad(h: Numbers, grad: Array, var: Array, accum: Array) -> None:
    """A step of Adagrad, then shrinkage.

    Raises:
      InvalidArgument: the learning rate is not positive, or a regularization is negative.

    """
    if not h.lr > 0:
        raise InvalidArgument("lr is not a positive scalar: []")
    for name in ("l1", "l2"):
        if not getattr(h, name) >= 0:
            raise InvalidArgument(
                f"{name} regularization strength is not a non-negative scalar: []"
            )
    accum += grad * grad
    rate = h.lr / h.xp.sqrt(accum)
    var -= grad * rate
    _proximal(h, var, rate)


def _signs(h: Numbers, grad: Array, m: Array) -> Array:
    """Update the mean of gradients; returns its sign times the gradient's, decayed."""
    m *= h.beta
    m += grad * (h.one - h.beta)
    agreement: Array = h.xp.sign(grad) * h.xp.sign(m) * h.sign_decay
    return agreement


@formula("AddSign")
def add_sign(h: Numbers, grad: Array, var: Array, m: Array) -> None:
    """Down the gradient, further where it agrees in sign with its decaying mean."""
    var -= (_signs(h, grad, m) + h.alpha) * h.lr * grad


@formula("PowerSign")
def power_sign(h: Numbers, grad: Array, var: Array, m: Array) -> None:
    """As AddSign, with a power instead of a sum."""
    var -= h.xp.exp(_signs(h, grad, m) * h.logbase) * h.lr * grad
