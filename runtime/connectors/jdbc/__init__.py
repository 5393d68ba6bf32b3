"""Databases through JDBC: the driver's end of it is the JVM's."""
