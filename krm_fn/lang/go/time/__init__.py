"""Go's time package as far as templates reach it: durations, layouts, zones and points in time.

It knows values; it knows neither clocks (the moment that is now is handed in) nor templates.
"""
