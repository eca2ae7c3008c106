"""`krm-fn check`: results only, no manifests."""

from __future__ import annotations

import click

from krm_fn.cli.flags import Flags, ManifestCommand, fail_on_option, manifest_options
from krm_fn.cli.reports import fails, print_quotas, print_report, write_files, write_reports
from krm_fn.cli.runs import admit_manifests
from krm_fn.config.options import Mode

FORMS = ("text", "json", "yaml", "table")


@click.command(cls=ManifestCommand)
@manifest_options
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(FORMS, case_sensitive=False),
    default="text",
    show_default=True,
    help="What is said: lines on standard error, or a report on standard output.",
)
@click.option("-t", "--table", is_flag=True, help="What each rule made of each object.")
@click.option(
    "--quota",
    is_flag=True,
    help="What the manifests would use of each ResourceQuota, with all Pods of workloads.",
)
@fail_on_option
def check(flags: Flags, form: str, table: bool, quota: bool, fail_on: str) -> int:
    """Say what admission would do, and print no manifests.

    \b
    krm-fn check -f manifests/ -r rules/
    krm-fn check -f manifests/ -r rules/ -o json
    krm-fn check -f manifests/ --strict            # against the API's schemas, without a rule
    krm-fn check -f manifests/ -f quota.yaml --quota
    """
    form = "table" if table else form.lower()
    mode = None if flags.mode else Mode.VALIDATE
    printed = "the quotas" if quota else ""
    if form != "text":
        printed = f"the {form}"
    admitted = admit_manifests(flags, mode=mode, printed=printed, counts_quotas=quota)
    report = admitted.report
    if form in ("text", "table"):
        write_reports(flags, report)
    else:
        write_files(flags, report)
    if form != "text":
        print_report(form, report)
    if quota and form in ("text", "table"):
        print_quotas(report)
    return 1 if fails(report, fail_on) else 0
