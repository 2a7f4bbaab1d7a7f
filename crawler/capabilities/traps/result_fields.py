"""What a page says, in its result."""

from crawler.capabilities.traps.novelty import Said
from crawler.core.protocol.result_fields import ResultField

SAID: ResultField[Said | None] = ResultField("said", Said | None, None)  # None = it was not read

RESULT_FIELDS = (SAID,)
