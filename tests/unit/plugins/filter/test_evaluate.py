from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.llmgw.preflight.plugins.filter.evaluate import FilterModule


@pytest.mark.parametrize(("records", "given", "message"), [
    (5, {}, "llmgw.preflight.evaluate: a list of records is needed, not a number"),
    ([{"machine": "a"}], {"limits": []}, "llmgw.preflight.evaluate: limits is []: it must be a mapping with some of clock_warn_s, "),
])
def test_what_can_not_be_judged(records, given, message):
    with pytest.raises(AnsibleFilterError) as problem:
        FilterModule().filters()["evaluate"](records, **given)
    assert str(problem.value).startswith(message)
