"""Numbers that a table can have: what is larger names nothing, and no database has to be asked for it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from crawler.core.cursors import LARGEST

RowId = Annotated[int, Field(ge=0, le=LARGEST)]
