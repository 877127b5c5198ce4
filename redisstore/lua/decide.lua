-- decide: all limits of all keys are looked at, and then all charged or none.
--
-- KEYS     the records, one a subject
-- ARGV[1]  "number" of the call, or "number now"; 0 charges nothing
-- then for each key "limits cost", and for each limit of it what [limitText] says
--
-- It returns the time, then for each key the instant of its charge and twice the
-- record's number, plus 1 if dry runs were charged (0 where nothing was), and
-- for each limit the units remaining, the wait (0: not denied, -1: no wait
-- helps), and the wait until more remain.

local id, given = match(ARGV[1], '^(%d+) ?(%-?%d*)$')
local now = clock(given)
local LONGEST = 3156192000000000 -- to refill a bucket: core.MaxRefill

-- seen reports whether a record keeps the number of this call, and if so the
-- instant of its charge, if known, and the flag.
local function seen(gen, old, new)
  local offset = match(new, id .. ':(%d+),')
  if not offset then
    offset, gen = match(old, id .. ':(%d+),'), gen - 1
    if not offset then return false end
  end
  local flag = offset % 2
  offset = (offset - flag) / 2 - 1
  return true, offset >= 0 and gen * GENERATION + offset, flag
end

-- ahead returns the µs until a moment: so many slots from now, so far into one.
local function ahead(l, slots, into)
  local rest = l.w % l.n
  return slots * ((l.w - rest) / l.n) + ceil((slots * rest + into - l.into) / l.n)
end

-- view finds a list's charges that still count at an instant, and the room.
local function view(l, record, from, at)
  l.p, l.into = position(at, l.w, l.n)
  l.total, l.older, l.cursor = 0, '', 1
  if from then
    local total, oldest, newest, units, older = match(record, '^(%d+) (%-?%d+) (%-?%d+) (%d+) ?([^;]*);', from)
    newest = newest + 0
    if l.p - newest < l.span then
      l.total, l.oldest, l.newest, l.units, l.older = total + 0, oldest + 0, newest, units + 0, older
      while l.p - l.oldest >= l.span do
        local _, e, units, gap = find(older, '^(%d+) (%d+) ?', l.cursor)
        l.total, l.oldest, l.cursor = l.total - units, l.oldest + gap, e + 1
      end
    end
  end
  l.room = l.quota - l.total
  if l.smooth and l.total > 0 and l.p - l.oldest == l.n then
    local units = l.units
    if l.cursor <= #l.older then units = match(l.older, '^%d+', l.cursor) + 0 end
    local share, rest = muldiv(units, l.w - l.into, l.w)
    if rest > 0 then share = share + 1 end
    l.room = l.room + units - share
  end
end

-- wait returns the µs until cost units fit. From the oldest charge on it looks
-- for the first whose leaving makes enough room, if need be by a share.
local function wait(l, cost)
  local free, pos, cursor, left = l.quota - cost - l.total, l.oldest, l.cursor, nil
  if l.total == 0 then return 0 end
  while true do
    local units, gap = l.units, nil
    local _, e, u, g = find(l.older, '^(%d+) (%d+) ?', cursor)
    if e then units, gap, cursor = u + 0, g + 0, e + 1 end
    free = free + units
    if units <= free then
      return left and ahead(l, left - l.p, 0) or 0
    elseif l.smooth and free >= 0 then
      return max(0, ahead(l, pos + l.n - l.p, l.w - muldiv(free, l.w, units)))
    end
    left = pos + l.span
    if not gap then return ahead(l, left - l.p, 0) end
    pos = pos + gap
  end
end

local function charge(l, cost)
  if l.total == 0 then
    l.oldest, l.newest, l.units, l.older, l.cursor = l.p, l.p, cost, '', 1
  elseif l.p == l.newest then
    l.units = l.units + cost
  else
    l.older = format('%s%s%.0f %.0f', sub(l.older, l.cursor), l.cursor <= #l.older and ' ' or '', l.units, l.p - l.newest)
    l.newest, l.units, l.cursor = l.p, cost, 1
  end
  l.total = l.total + cost
end

-- encode returns a limit as it stands in a record, and for how long it counts.
local function encode(l)
  if l.total == 0 then return format('%s 0 %.0f %.0f 0;', l.print, l.p, l.p), 0 end
  local older = sub(l.older, l.cursor)
  if older ~= '' then older = ' ' .. older end
  return format('%s %.0f %.0f %.0f %.0f%s;', l.print, l.total, l.oldest, l.newest, l.units, older),
    ahead(l, l.newest + l.span - l.p, 0)
end

-- A bucket owes d µs and r/quota µs; under a quota of 0, d units and r/w units.
-- paced returns what was owed under another quota in those of this one, at most
-- what takes the longest.
local function paced(quota, d, r, l)
  if quota > 0 then
    local units, rest = muldiv(d, quota, l.w)
    d, r = units + floor((rest + r) / l.w), (rest + r) % l.w
  end
  if l.quota == 0 then return d, r end
  if d * l.w / l.quota > 1.2 * LONGEST then return LONGEST, 0 end
  local whole, rest = muldiv(d, l.w, l.quota)
  d, r = whole + floor((rest + r) / l.quota), (rest + r) % l.quota
  if d >= LONGEST then return LONGEST, 0 end
  return d, r
end

-- viewBucket finds what a bucket owes at an instant: what it owed at its last
-- charge less what it paid off since, at the pace of the limit that asks.
local function viewBucket(l, record, from, at, last)
  l.at, l.d, l.r = at, 0, 0
  if from then
    local quota, d, r = match(record, '^(%d+) (%-?%d+) (%d+);', from)
    quota, d, r = quota + 0, d + 0, r + 0
    if quota > 0 then d = d - last end
    if d < 0 then d, r = 0, 0 end
    if quota ~= l.quota then
      l.changed = true
      d, r = paced(quota, d, r, l)
    end
    if l.quota > 0 then d = d - (at - last) end
    if d < 0 then d, r = 0, 0 end
    l.d, l.r = d, r
  end
  if l.quota == 0 then
    l.room = 0
    return
  end
  local units, rest = muldiv(l.d, l.quota, l.w)
  l.room = l.burst - units - ceil((rest + l.r) / l.w)
end

local function waitBucket(l, cost)
  local d, r = muldiv(l.burst - cost, l.w, l.quota)
  d, r = l.d - d, l.r - r
  if r > 0 then d = d + 1 end
  return max(0, d)
end

local function chargeBucket(l, cost)
  local d, r = muldiv(cost, l.w, l.quota)
  l.d, l.r = l.d + d, l.r + r
  if l.r >= l.quota then l.d, l.r = l.d + 1, l.r - l.quota end
end

local function encodeBucket(l)
  if l.quota == 0 then return format('%s 0 %.0f %.0f;', l.print, l.d, l.r), 2 * l.w end
  return format('%s %.0f %.0f %.0f;', l.print, l.quota, l.at + l.d, l.r), l.d + 1
end

-- First look at everything. Nothing is written yet, so that an error on the way
-- leaves nothing half done.
local asks, admitted, done, arg = {}, true, false, 1
for k, key in ipairs(KEYS) do
  local a = {at = now, born = id, gen = 0, old = '', new = '', dry = true, bound = false}
  asks[k] = a
  local record, void = redis.call('GET', key), false
  if record then
    local last, born, gen, old, new = head(record)
    if not last then return redis.error_reply('SLIDEGATE the key holds something else than a record of slidegate') end
    a.at, a.last, a.born, a.gen, a.old, a.new = max(now, last), last, born, gen, old, new
    if id ~= '0' then
      a.done, a.charged, a.flag = seen(gen, old, new)
      done = done or a.done
    end
  end
  arg = arg + 1
  local count, cost = match(ARGV[arg], '^(%d+) (%d+)$')
  a.cost = cost + 0
  for i = 1, count + 0 do
    arg = arg + 1
    local print, dry, quota, w, n, span, smooth = match(ARGV[arg], '^(%w+) (%d) (%d+) (%d+) (%d+) (%d+) (%d)$')
    local l = {print = print, dry = dry == '1', quota = quota + 0, w = w + 0, n = n + 0, span = span + 0, smooth = smooth == '1'}
    a[i] = l
    local _, from
    if record then
      _, from = find(record, ';' .. print .. ' ', 1, true)
      if from then from = from + 1 else void = true end
    end
    if l.n == 0 then
      l.burst = l.span
      viewBucket(l, record, from, a.at, a.last)
      void, a.slowed = void or l.changed, a.slowed or l.changed
    else
      l.burst = l.quota
      view(l, record, from, a.at)
    end
    l.remaining, l.wait = max(0, l.room), 0
    if a.cost > l.room then
      if a.cost > l.burst then
        l.wait = -1
      else
        l.wait = (l.n == 0 and waitBucket or wait)(l, a.cost) + a.at - now
      end
      if l.dry then a.dry = false else admitted = false end
    end
    a.bound = a.bound or not l.dry
  end
  -- What was charged before is not comparable to what counts from now on.
  if void then a.fresh = true end
end

-- A call that came before, and whose reply was lost, was admitted then.
if done then admitted = true end
local charges = admitted and not done and id ~= '0'

local function settle(l, a)
  if l.remaining >= l.burst then return 0 end
  if l.wait > 0 and a.cost == l.remaining + 1 then return l.wait end
  return (l.n == 0 and waitBucket or wait)(l, l.remaining + 1) + a.at - now
end

-- outlive keeps a record that was denied at another pace than it was charged at
-- for as long as it says to wait.
local function outlive(key, a)
  for _, l in ipairs(a) do
    if l.changed and l.quota > 0 then
      local ms = ceil((l.d + 1 + a.at - now) / 1000)
      if ms > redis.call('PTTL', key) then redis.call('PEXPIRE', key, ms) end
    end
  end
end

local reply = {now}
for k, a in ipairs(asks) do
  local receipt = 0
  if charges and (a.bound or a.dry) then
    local flag = a.dry and 1 or 0
    if a.fresh then a.born = id end
    local limits, longest = {}, 2 * GENERATION
    for i, l in ipairs(a) do
      if a.dry or not l.dry then
        if l.n == 0 then chargeBucket(l, a.cost) else charge(l, a.cost) end
        l.remaining = l.remaining - a.cost
      end
      local counts
      limits[i], counts = (l.n == 0 and encodeBucket or encode)(l)
      longest = max(longest, counts)
    end
    receipt = a.born * 2 + flag
    redis.call('SET', KEYS[k], format('%.0f %s %s;%s', a.at, a.born, numbered(a.gen, a.old, a.new, id, a.at, flag), table.concat(limits)),
      'PX', ceil((longest + a.at - now) / 1000) + (given ~= '' and 3600000 or 0))
    a.charged = a.at
  elseif a.charged then
    receipt = a.born * 2 + a.flag
  end
  if a.slowed and not admitted and id ~= '0' then outlive(KEYS[k], a) end
  reply[#reply + 1] = a.charged or 0
  reply[#reply + 1] = receipt
  for i, l in ipairs(a) do
    if done and (a.flag == 1 or not l.dry) then l.wait = 0 end
    reply[#reply + 1] = l.remaining
    reply[#reply + 1] = l.wait
    reply[#reply + 1] = settle(l, a)
  end
end
return reply
