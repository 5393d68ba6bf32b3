"""PostgreSQL: connections, types, rows as COPY takes them, and the ledger of epochs."""
