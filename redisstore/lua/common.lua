-- Arithmetic and the layout of records, shared by the scripts.
--
-- Numbers are doubles: whole ones are exact below 2^53. Instants are in µs since
-- the Unix epoch. A record is one string:
--
--   last born gen old|new;limit;limit;…
--
-- last is the instant of the last charge, born the number of the call that began
-- the record. new and old are the numbers of the calls that changed it in the
-- generation gen (see GENERATION) and the one before, each as "number:offset,".
-- A limit is "fingerprint state;". Of a bucket the state is "quota full rest": the
-- instant at which it will be full, and 1/quota µs beyond; under a quota of 0,
-- where nothing is paid off, the units that it owes and 1/window units beyond.
-- All others keep a list of charges, oldest first:
--
--   total oldest newest units[ units gap units gap …]
--
-- oldest and newest are positions, units those charged at the newest one; the
-- list has what was charged at each older position and the gap to the next.

local match, find, sub, format = string.match, string.find, string.sub, string.format
local floor, ceil, max = math.floor, math.ceil, math.max

-- A call that a client sends again is told by its number, which is kept for one
-- to two generations, of 2^18 µs each.
local GENERATION = 262144

-- product returns a·b as hi·2^52 + lo, for factors below 2^52.
local function product(a, b)
  local a0, b0 = a % 67108864, b % 67108864
  local a1, b1 = (a - a0) / 67108864, (b - b0) / 67108864
  local mid = a1 * b0 + a0 * b1
  local m0 = mid % 67108864
  local hi, lo = a1 * b1 + (mid - m0) / 67108864, m0 * 67108864 + a0 * b0
  if lo >= 4503599627370496 then return hi + 1, lo - 4503599627370496 end
  return hi, lo
end

-- muldiv returns floor(a·b/d) and the rest; all must be below 2^52. Where the
-- product is no exact double the quotient is guessed, and is off by 2 at most.
local function muldiv(a, b, d)
  local p = a * b
  if p < 9007199254740992 then
    local r = p % d
    return (p - r) / d, r
  end
  local q = floor(p / d)
  local hi, lo = product(a, b)
  local hi2, lo2 = product(q, d)
  local r = (hi - hi2) * 4503599627370496 + (lo - lo2)
  while r < 0 do q, r = q - 1, r + d end
  while r >= d do q, r = q + 1, r - d end
  return q, r
end

-- position returns the slot of an instant, w/n long, and how far it lies in it
-- in n-ths of a µs: floor(at·n/w) and the rest.
local function position(at, w, n)
  local r = at % w
  if n == 1 then return (at - r) / w, r end
  local slot, into = muldiv(r, n, w)
  return (at - r) / w * n + slot, into
end

-- clock returns the time: what the call says, or the server's.
local function clock(given)
  local now
  if given ~= '' then
    now = given + 0
  else
    local t = redis.call('TIME')
    now = t[1] * 1000000 + t[2]
  end
  -- The sum of an instant and the longest wait must be exact too.
  return math.min(now, 5200000000000000)
end

-- head returns the parts of a record before its limits.
local function head(record)
  local last, born, gen, old, new = match(record, '^(%-?%d+) (%d+) (%-?%d+) ([^|;]*)|([^;]*);')
  if not last then return nil end
  return last + 0, born, gen + 0, old, new
end

-- numbered adds the number of a call to those of a record, with the instant of
-- its charge and a flag. An instant before the generation is not kept.
local function numbered(gen, old, new, id, at, flag)
  local g = floor(at / GENERATION)
  if g > gen then
    old, new, gen = g == gen + 1 and new or '', '', g
  end
  return format('%.0f %s|%s%s:%d,', gen, old, new, id, 2 * max(0, at - gen * GENERATION + 1) + flag)
end
