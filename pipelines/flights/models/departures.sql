-- One row a scheduled departure, cleaned: what everything else here reads.
SELECT
  scheduled_at,
  carrier,
  flight,
  tailnum,
  origin,
  dest,
  distance,
  -- A flight that never left has neither times nor delays. NULL takes no part in AVG and MAX, so it must
  -- be counted where it matters, and not be turned into a delay of zero.
  dep_time IS NULL AS cancelled,
  dep_delay,
  arr_delay,
  -- dep_time has no day: a flight due at 23:59 that leaves at 00:06 left on the day after. The delay
  -- knows, and it is not confused by 2400 or by the hour that daylight saving skips.
  scheduled_at + make_dt_interval(0, 0, dep_delay, 0) AS departed_at
FROM flights
-- From one airport of New York to another: a plane is moved, nobody travels.
WHERE dest NOT IN ('EWR', 'JFK', 'LGA')
