"""Running a job plan: starting, watching and ending its queries."""
