local SHORT = 24  -- pages in a short slice (SHORT_SLICE_PAGES in core.politeness.host_rules)

-- How many slices of this lane may be out at once, how many pages a slice has, and how many a short one has. Lanes of
-- suspects ("host|16", "host|1", see core.protocol.retries) use their host's pace with smaller slices.
-- Pages of a slot lane ("host|b") take seconds each: a slice has a few, and one while fewer wait than slots.
local FOR_SLOT = 4
local function pace_of(pace, lane, usual_at_once, usual_pages)
  local host, suffix, company = string.match(lane, '^([^|]*)|?(%a*)(%d*)$')
  local at_once, pages, short = string.match(redis.call('HGET', pace, host) or '', '^(%d+) (%d+) ?(%d*)$')
  at_once, pages = tonumber(at_once or usual_at_once), tonumber(pages or usual_pages)
  if company ~= '' then pages = math.min(pages, tonumber(company)) end
  if suffix ~= '' then pages, short = math.min(pages, FOR_SLOT), 1 end
  return at_once, pages, math.min(pages, tonumber(short or '') or SHORT)
end
