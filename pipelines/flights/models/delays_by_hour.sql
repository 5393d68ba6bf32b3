-- How late is it at each airport, hour by hour? A window is written once, when the watermark has passed its
-- end: after that no row can change it.
SELECT
  window_start,
  window_end,
  origin,
  COUNT(*) AS flights,
  COUNT(*) FILTER (WHERE cancelled) AS cancelled,
  AVG(dep_delay) AS avg_delay,
  MAX(dep_delay) AS max_delay
FROM TUMBLE(TABLE departures, DESCRIPTOR(scheduled_at), INTERVAL '1' HOUR)
GROUP BY window_start, window_end, origin
