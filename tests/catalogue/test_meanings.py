from dataclasses import fields

from trainmark.catalogue.meanings import meanings, result_meanings, run_meanings
from trainmark.types import Result, Run


def test_every_field_has_a_meaning() -> None:
    assert set(result_meanings()) == {field.name for field in fields(Result)}
    assert set(run_meanings()) == {"result_id", "run_index", *(f.name for f in fields(Run))}
    assert all(result_meanings().values())
    assert all(run_meanings().values())


def test_lines_are_joined_and_other_sections_left_out() -> None:
    class Example:
        """One.

        Attributes:
            first: A sentence
                that goes on.
            second: ``code``.

        Raises:
            ValueError: Never.
        """

    assert meanings(Example) == {"first": "A sentence that goes on.", "second": "code."}


def test_a_class_without_a_docstring_has_none() -> None:
    class Bare:
        pass

    assert meanings(Bare) == {}
