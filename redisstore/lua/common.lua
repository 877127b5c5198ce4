-- What the scripts share: arithmetic, and the layout of records.
--
-- Numbers are doubles, in which whole numbers below 2^53 are exact; records and
-- arguments hold them as such, in eight bytes. Instants are in µs since the Unix
-- epoch. A record is
--
--   last   the instant of the last charge
--   born   the number of the call that began the record
--   tail   where the numbers of calls begin (four bytes)
--   new    how many bytes of these are of the generation of last (four bytes)
--   the limits, each as
--     print  the fingerprint of the limit
--     a b    of a bucket: its quota, and the instant at which it will be full
--            of others: the position of the last charge, and the units there
--     more   how many bytes follow (four bytes)
--            of a bucket: rest, 1/quota µs beyond that instant; under a quota of
--            0, where nothing is paid off, b is the units that it owes and rest
--            what it owes beyond, in 1/window units
--            of others: nothing, or what was charged before, oldest first: for
--            each position the units and the gap to the next; if there are
--            several, total, the units of all charges that are kept, and oldest,
--            the position of the first, come before them
--   the numbers of calls that charged or refunded something, newest first, each
--   followed by "+" if dry runs were charged, "-" if not, "<" if it refunded

-- A call that a client sends again is told by its number, which is kept for one
-- to two generations of 2^18 µs, unless too many bytes of them have come since.
local GENERATION = 262144
local MOST = 9216

-- No instant is later, so that it and the longest wait add up exactly.
local LATEST = 5200000000000000

local find, sub, floor = string.find, string.sub, math.floor
local pack, unpack, call = struct.pack, struct.unpack, redis.call

-- The time is the last argument, if there is one more than there are keys.
local now = ARGV[#KEYS + 2]
if now then
  now = now + 0
else
  local t = call('TIME')
  now = t[1] * 1000000 + t[2]
end
if now > LATEST then now = LATEST end
