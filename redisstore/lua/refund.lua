-- refund: takes back charges by their receipts.
--
-- KEYS     the records
-- ARGV[1]  "number" of the call, or "number now"
-- then for each key "limits cost at born", and for each limit that was charged
-- what [limitText] says

local id, given = match(ARGV[1], '^(%d+) ?(%-?%d*)$')
local now = clock(given)

-- takeBack returns a list of charges less those of a position.
local function takeBack(state, pos, cost)
  local total, oldest, newest, units, older = match(state, '^(%d+) (%-?%d+) (%-?%d+) (%d+) ?(.*)$')
  total, oldest, newest, units = total + 0, oldest + 0, newest + 0, units + 0
  if total == 0 or pos < oldest or pos > newest then return state end
  local list, p = {}, oldest
  for u, gap in string.gmatch(older, '(%d+) (%d+)') do
    list[#list + 1] = {pos = p, units = u + 0}
    p = p + gap
  end
  list[#list + 1] = {pos = newest, units = units}
  for i, c in ipairs(list) do
    if c.pos == pos then
      local taken = math.min(cost, c.units)
      c.units, total = c.units - taken, total - taken
      if c.units == 0 then table.remove(list, i) end
      break
    end
  end
  if #list == 0 then return format('0 %.0f %.0f 0', newest, newest) end
  local parts, last = {}, list[#list]
  for i = 1, #list - 1 do
    parts[i] = format(' %.0f %.0f', list[i].units, list[i + 1].pos - list[i].pos)
  end
  return format('%.0f %.0f %.0f %.0f%s', total, list[1].pos, last.pos, last.units, table.concat(parts))
end

-- takeBackBucket gives back what the charge still owes, as if the bucket had
-- been full before it: it cannot have been paid off sooner than that.
local function takeBackBucket(state, w, at, charged, cost)
  local quota, d, r = match(state, '^(%d+) (%-?%d+) (%d+)$')
  quota, d, r = quota + 0, d + 0, r + 0
  if quota == 0 then
    if d < cost then d, r = cost, 0 end
    return format('0 %.0f %.0f', d - cost, r)
  end
  d = d - at
  if d < 0 then d, r = 0, 0 end
  local owed, rest = muldiv(cost, w, quota)
  owed = owed - (at - charged)
  if owed >= 0 then
    d, r = d - owed, r - rest
    if r < 0 then d, r = d - 1, r + quota end
  end
  -- Nothing owed now means that nothing was at the last charge, whatever the
  -- pace from then on.
  if d < 0 or d == 0 and r == 0 then d, r, at = 0, 0, charged end
  return format('%.0f %.0f %.0f', quota, at + d, r)
end

local arg = 1
for k, key in ipairs(KEYS) do
  arg = arg + 1
  local count, cost, charged, receipt = match(ARGV[arg], '^(%d+) (%d+) (%-?%d+) (%d+)$')
  cost, charged = cost + 0, charged + 0
  local record, changed = redis.call('GET', key), false
  local last, born, gen, old, new
  if record then last, born, gen, old, new = head(record) end
  if last and born == receipt and not find(new, id, 1, true) and not find(old, id, 1, true) then
    local at = max(now, last)
    for i = 1, count + 0 do
      local print, w, n = match(ARGV[arg + i], '^(%w+) %d %d+ (%d+) (%d+)')
      local _, from = find(record, ';' .. print .. ' ', 1, true)
      if from then
        local to = find(record, ';', from, true)
        local state = sub(record, from + 1, to - 1)
        if n == '0' then
          state = takeBackBucket(state, w + 0, at, charged, cost)
        else
          state = takeBack(state, (position(charged, w + 0, n + 0)), cost)
        end
        record, changed = sub(record, 1, from) .. state .. sub(record, to), true
      end
    end
    if changed then
      local limits = sub(record, find(record, ';', 1, true), -1)
      redis.call('SET', key, format('%.0f %s %s%s', last, born, numbered(gen, old, new, id, at, 0), limits), 'KEEPTTL')
    end
  end
  arg = arg + count
end
return 1
