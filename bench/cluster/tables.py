"""Tables that people read in a terminal and paste into a page."""


def table(header, rows):
    """Prints a table; numbers come as they are to be read."""
    cells = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(header))]
    for number, row in enumerate(cells):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |", flush=True)
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    print(flush=True)


def seconds(value):
    """Seconds with three digits, and minutes or hours where that is easier to read."""
    if value >= 5400:
        return f"{value / 3600:.1f} h"
    if value >= 300:
        return f"{value / 60:.0f} min"
    return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"


def megabytes(value):
    """Bytes as megabytes."""
    return f"{value / 1e6:,.1f}" if value < 1e9 else f"{value / 1e6:,.0f}"
