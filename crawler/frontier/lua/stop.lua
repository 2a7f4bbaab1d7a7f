-- A host asks for no request at all until a moment.
-- KEYS: host
-- ARGV: epoch seconds
if tonumber(redis.call('HGET', KEYS[1], 'until') or '0') < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[1], 'until', ARGV[1])
  redis.call('EXPIRE', KEYS[1], 86400)
end
