from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from krm_fn.errors import EvaluationError
from krm_fn.lang.go.time import zones
from krm_fn.lang.gotemplate import RenderSources, parse

CLOCK = datetime(2024, 5, 6, 7, 8, 9, 250_000, tzinfo=UTC)
STAMP = "1709622428"  # 2024-03-05 07:07:08 UTC, a Tuesday


def render(text: str, clock: datetime | None = None) -> str:
    return parse("{{ " + text + " }}", "x").render({}, RenderSources(clock))


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("Monday Mon January Jan", "Tuesday Tue March Mar"),
        ("Month Janus", "Month Janus"),
        ("2006 06 01 1 02 2 _2 002 __2", "2024 24 03 3 05 5  5 065  65"),
        ("_2006", "_2024"),
        ("15 03 3 04 4 05 5 PM pm", "07 07 7 07 7 08 8 AM am"),
        ("MST -0700 -07:00 -07 Z0700 Z07:00", "UTC +0000 +00:00 +00 Z Z"),
        ("5.000 5.999 5,00", "8.000 8 8,00"),
        ("é no", "é no"),
    ],
)
def test_a_layout_writes_a_time(layout: str, expected: str) -> None:
    assert render(f'date "{layout}" {STAMP}') == expected


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("UTC", "07:07 UTC +0000"),
        ("", "07:07 UTC +0000"),
        ("Local", "07:07 UTC +0000"),
        ("America/New_York", "02:07 EST -0500"),
        ("Asia/Kolkata", "12:37 IST +0530"),
        ("Nope/Zone", "07:07 UTC +0000"),
        ("../etc/passwd", "07:07 UTC +0000"),
        ("localtime", "07:07 UTC +0000"),
    ],
)
def test_a_zone_is_looked_up_by_name(zone: str, expected: str) -> None:
    assert render(f'dateInZone "15:04 MST -0700" {STAMP} "{zone}"') == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ("253402318800", "10000-01-01 00:00 EST"),
        ("1000000000000", "33658-09-26 21:46 EDT"),
        ("-62135596801", "0000-12-31 19:03 LMT"),
        ("9223372036854775807", "292277026596-12-04 10:30 EST"),
    ],
)
def test_a_zone_holds_beyond_the_years_of_python(seconds: str, expected: str) -> None:
    layout = "2006-01-02 15:04 MST"
    assert render(f'dateInZone "{layout}" {seconds} "America/New_York"') == expected


def test_a_machine_without_zones_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise KeyError(name)

    monkeypatch.setattr(zones.zoneinfo, "ZoneInfo", missing)
    with pytest.raises(EvaluationError, match="needs a time zone database"):
        render(f'dateInZone "15" {STAMP} "Asia/Tokyo"')


@pytest.mark.parametrize(
    ("layout", "text", "expected"),
    [
        ("2006-01-02", "2024-02-29", "2024-02-29 00:00:00 +0000 UTC"),
        (
            "2006-01-02T15:04:05Z07:00",
            "2024-01-02T03:04:05+05:30",
            "2024-01-02 03:04:05 +0530 +0530",
        ),
        ("2006-01-02 15:04:05", "2024-01-02 03:04:05.25", "2024-01-02 03:04:05.25 +0000 UTC"),
        ("02 Jan 06 15:04 MST", "05 mar 99 03:04 CEST", "1999-03-05 03:04:00 +0000 CEST"),
        ("15:04 MST", "03:04 GMT+3", "0000-01-01 06:04:00 +0300 GMT+3"),
        ("3:04PM", "12:30AM", "0000-01-01 00:30:00 +0000 UTC"),
        ("2006-002", "2024-366", "2024-12-31 00:00:00 +0000 UTC"),
        ("2006  01", "2024 01", "2024-01-01 00:00:00 +0000 UTC"),
        ("05.000", "07.125", "0000-01-01 00:00:07.125 +0000 UTC"),
    ],
)
def test_a_layout_reads_a_time(layout: str, text: str, expected: str) -> None:
    assert render(f'mustToDate "{layout}" "{text}"') == expected


@pytest.mark.parametrize(
    ("layout", "text", "reason"),
    [
        ("2006", "x", 'cannot parse "x" as "2006"'),
        ("2006-01-02", "2024-02-30", ": day out of range"),
        ("2006-01-02", "2024-13-01", ": month out of range"),
        ("15", "24", ": hour out of range"),
        ("2006", "2024x", ": extra text: "),
        ("2006x", "2024", 'cannot parse "" as "x"'),
        ("2006-002", "2023-366", ": day-of-year out of range"),
        ("MST", "A", 'as "MST"'),
        ("2006.000", "2024.12", 'as ".000"'),
    ],
)
def test_a_text_that_does_not_fit_its_layout_is_an_error(
    layout: str, text: str, reason: str
) -> None:
    with pytest.raises(EvaluationError) as caught:
        render(f'mustToDate "{layout}" "{text}"')
    assert reason in str(caught.value)
    assert render(f'toDate "{layout}" "{text}"') == "0001-01-01 00:00:00 +0000 UTC"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("$t.Year", "2024"),
        ("$t.Month", "February"),
        ('printf "%d %s" $t.Month $t.Month', "2 February"),
        ("$t.Weekday", "Thursday"),
        ("eq $t.Weekday 4", "true"),
        ("$t.YearDay", "60"),
        ('$t.Format "Jan 2"', "Feb 29"),
        ("$t.Unix", "1709164800"),
        ("$t.AddDate 1 0 0", "2025-03-01 00:00:00 +0000 UTC"),
        ("$t.Add 1500000000", "2024-02-29 00:00:01.5 +0000 UTC"),
        ("($t.AddDate 0 0 1).Sub $t", "24h0m0s"),
        ("(($t.AddDate 0 0 1).Sub $t).Hours", "24"),
        ("$t.After $t", "false"),
        ("$t.IsZero", "false"),
        ("eq $t $t.UTC", "false"),
        ("$t.Equal $t.UTC", "true"),
        ("typeOf $t", "time.Time"),
        ("kindOf ($t.Sub $t)", "int64"),
        ("int64 $t.Month", "0"),
        ("toJson (list $t $t.Month)", '["2024-02-29T00:00:00Z",2]'),
        ('printf "%#v" $t', "time.Date(2024, time.February, 29, 0, 0, 0, 0, time.Local)"),
    ],
)
def test_a_time_has_its_methods(call: str, expected: str) -> None:
    assert render('$t := toDate "2006-01-02" "2024-02-29" }}{{ ' + call) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('dateModify "-1.5h" (toDate "2006" "2024")', "2023-12-31 22:30:00 +0000 UTC"),
        ('dateModify "bad" (toDate "2006" "2024")', "2024-01-01 00:00:00 +0000 UTC"),
        ('unixEpoch (toDate "2006" "2024")', "1704067200"),
        ('duration "95"', "1m35s"),
        ("duration 95", "0s"),
        ("duration (int64 3600)", "1h0m0s"),
        ('durationRound "2h10m5s"', "2h"),
        ('durationRound "8761h"', "1y"),
        ('durationRound "1.5m"', "1m"),
        ('durationRound "60s"', "60s"),
        ('durationRound "x"', "0s"),
        ("durationRound (int64 1000000001)", "1s"),
    ],
)
def test_times_and_durations(call: str, expected: str) -> None:
    assert render(call) == expected


@pytest.mark.parametrize("text", ["", "1", "1x", ".s", "9223372036854775808ns", "1.s.", "h"])
def test_what_is_no_duration_is_an_error(text: str) -> None:
    with pytest.raises(EvaluationError, match="duration"):
        render(f'mustDateModify "{text}" (toDate "2006" "2024")')


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("now", "2024-05-06 07:08:09.25 +0000 UTC"),
        ("ago (int64 1714979288)", "1s"),
        ('ago (toDate "2006" "2024")', "3031h8m9s"),
        ('htmlDate "no time"', "2024-05-06"),
        ('date "2006" 0.0', "2024"),
        ('htmlDateInZone nil "Asia/Tokyo"', "2024-05-06"),
        ('durationRound (toDate "2006" "2024")', "4mo"),
    ],
)
def test_the_clock_says_what_is_now(call: str, expected: str) -> None:
    assert render(call, CLOCK) == expected
    name = call.split()[0]
    with pytest.raises(EvaluationError) as caught:
        render(call)
    assert f"{name} is not deterministic at render" in str(caught.value)


def test_a_clock_in_another_zone_is_the_same_moment() -> None:
    assert render("now", CLOCK.astimezone(timezone(timedelta(hours=5)))) == render("now", CLOCK)
    assert render("now", CLOCK.replace(tzinfo=None)) == render("now", CLOCK)
