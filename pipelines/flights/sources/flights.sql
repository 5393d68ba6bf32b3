-- A file arrives when its day is over. Its rows are in the order in which the planes left, and those of
-- cancelled flights come last: so they are not in the order of their event time, the scheduled departure.
CREATE SOURCE flights (
  year INT,
  month INT,
  day INT,
  dep_time INT,             -- wall clock as a number: 5 is 00:05, 2400 is midnight; NULL if cancelled
  sched_dep_time INT,
  dep_delay INT,            -- minutes, negative if early
  arr_time INT,
  sched_arr_time INT,
  arr_delay INT,
  carrier STRING,
  flight INT,
  tailnum STRING,
  origin STRING,
  dest STRING,
  air_time INT,
  distance INT,             -- miles
  hour INT,                 -- of the scheduled departure
  minute INT,
  time_hour TIMESTAMP,      -- the scheduled hour once more, in UTC
  -- A computed column can be the event time. It is read in the project's time zone, daylight saving included:
  -- 05:00 is 10:00 UTC in January and 09:00 in July.
  scheduled_at AS make_timestamp(year, month, day, hour, minute, 0),
  -- Spark judges an epoch's rows by the watermark of the epoch before, which ended at least a midnight ago.
  -- So an hour is plenty here: no row of a new day is ever late, whatever the order within its file.
  WATERMARK FOR scheduled_at AS scheduled_at - INTERVAL '1' HOUR
) WITH (
  connector = 'filesystem',
  path = '${data}',
  format = 'csv',
  csv.header = true,
  csv.null = 'NA',          -- what R writes for a missing value
  max_files_per_epoch = ${files_per_epoch}
);
