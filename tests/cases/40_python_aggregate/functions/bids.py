from decimal import Decimal

import headrace


@headrace.aggregate
def change(price: Decimal) -> Decimal:
    return price.iloc[-1] - price.iloc[0]


@headrace.aggregate(vectorized=False)
def path(item: str) -> str:
    return "".join(item)
