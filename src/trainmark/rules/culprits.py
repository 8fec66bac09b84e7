"""Which part of a constraint does not hold: what a finding speaks of instead of the whole."""

from trainmark.rules.constraints import AllOf, AnyOf, Flag
from trainmark.rules.subjects import Constraint
from trainmark.rules.vocabulary import Scope

__all__ = ["CANNOT", "failing"]

# What Python raises for a rule that does not fit the record: text compared with a number, ...
CANNOT = (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError)


def failing(constraint: Constraint, scope: Scope) -> Constraint:
    """The part of a constraint that does not hold, to be spoken of instead of the whole.

    What looks at the record alone and in one way stays whole: "at least 0 and at most 1" says
    more than its half.

    Args:
        constraint: One that does not hold, or cannot be evaluated.
        scope: The record and the state as they were tested.
    """
    match constraint:
        case AllOf(parts=parts):
            if constraint.stateless and len({part.kind for part in parts}) == 1:
                return constraint
            broken = next((part for part in parts if not _holds(part, scope)), None)
            return constraint if broken is None else failing(broken, scope)
        case AnyOf(parts=parts):
            # Alternatives for different states: the one for the state at hand.
            fitting = [part for part in parts if _is_for_now(part, scope)]
            return failing(fitting[0], scope) if len(fitting) == 1 else constraint
    return constraint


def _is_for_now(constraint: Constraint, scope: Scope) -> bool:
    match constraint:
        case AllOf(parts=(Flag() as flag, *_)):
            return _holds(flag, scope)
    return False


def _holds(constraint: Constraint, scope: Scope) -> bool:
    try:
        return bool(constraint.holds(scope))
    except CANNOT:
        return False
