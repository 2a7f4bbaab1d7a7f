-- Remember keys.
-- ARGV: start of the names of the seen-set's parts, then part, number, part, number, ... of each key
for i = 2, #ARGV, 2 do
  redis.call('SADD', ARGV[1] .. ARGV[i], ARGV[i + 1])
end
