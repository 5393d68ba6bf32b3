-- A seed is a small table under seeds/: every epoch is joined with the whole of it. LEFT keeps a flight
-- whose carrier the table does not know.
SELECT
  d.scheduled_at,
  d.departed_at,
  d.carrier,
  a.name AS airline,
  d.flight,
  d.tailnum,
  d.origin,
  d.dest,
  d.dep_delay,
  d.arr_delay,
  d.cancelled
FROM departures AS d
LEFT JOIN airlines AS a ON d.carrier = a.carrier
