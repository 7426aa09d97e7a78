"""Certificates that must be refused: honest ones with one thing made wrong."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from planner.calculus.exact import number, text
from suites.certificates import Body, canonical, sha

F = Fraction


def forgeries(
    certificate: Body, data: bytes, reservations: list[Body]
) -> Iterator[tuple[str, Any, bytes, Any]]:
    """(what is wrong, certificate, plan bytes, reservations) for every single wrong thing."""
    for name, forged in _claims(certificate):
        yield name, forged, data, reservations
    for name, forged, cheaper in _cheaper(certificate, reservations):
        yield name, forged, data, cheaper
    for name, forged in _nodes(certificate):
        yield name, forged, data, reservations
    for name, forged in _heads(certificate):
        yield name, forged, data, reservations
    for name, forged in _numbers(certificate):
        yield name, forged, data, reservations
    for name, written in _bytes(certificate):
        yield name, written, data, reservations
    for name, forged, told in _together(certificate, json.loads(data)):
        yield name, {**forged, "plan_hash": sha(told)}, told, reservations
    for name, body in _plans(json.loads(data)):
        told = canonical(body)
        yield f"{name}, old hash", certificate, told, reservations
        yield f"{name}, new hash", {**certificate, "plan_hash": sha(told)}, told, reservations
    yield "plan not canonical", certificate, data + b" ", reservations
    yield "plan empty", certificate, b"", reservations
    for name, wrong in _reservations(reservations):
        yield name, certificate, data, wrong


def _changed(certificate: Body, change: Any) -> Body:
    forged = copy.deepcopy(certificate)
    change(forged)
    return forged


def _claims(certificate: Body) -> Iterator[tuple[str, Body]]:
    """Every claim lowered by a thousandth, alone and, for totals, together with its node."""
    for i, node in enumerate(certificate["nodes"]):
        for unit, value in node["out"].items():
            low = text(number(value) * F(999, 1000))

            def lower(forged: Body, i: int = i, unit: str = unit, low: str = low) -> None:
                was = forged["nodes"][i]["out"]
                forged["nodes"][i]["out"] = {**was, unit: low}
                for claim in forged["totals"]:
                    if claim["node"] == forged["nodes"][i]["id"]:
                        claim["out"] = forged["nodes"][i]["out"]

            yield f"claim of {node['id']} in {unit} lowered", _changed(certificate, lower)
    for i, claim in enumerate(certificate["totals"]):
        for unit, value in claim["out"].items():
            low = text(number(value) * F(999, 1000))
            yield (
                f"total {i} lowered alone",
                _changed(
                    certificate,
                    lambda c, i=i, unit=unit, low=low: c["totals"][i]["out"].update({unit: low}),
                ),
            )


def _cheaper(certificate: Body, reservations: list[Body]) -> Iterator[tuple[str, Body, Any]]:
    """A total that claims too little, reserved at that price."""
    for i, claim in enumerate(certificate["totals"]):
        top = next(node for node in certificate["nodes"] if node["id"] == claim["node"])
        parts = [node["out"] for node in certificate["nodes"] if node["id"] in top["in"]["of"]]
        for unit, value in claim["out"].items():
            composed = top["rule"][:4] == "pld_"
            if not composed and not any(unit in out for out in parts):
                continue
            part = F(999, 1000) if composed else F(1, 1000)
            out = {**claim["out"], unit: text(number(value) * part)}
            forged, cheaper = copy.deepcopy(certificate), copy.deepcopy(reservations)
            forged["totals"][i]["out"] = out
            for node in forged["nodes"]:
                if node["id"] == claim["node"]:
                    node["out"] = out
            cheaper[i]["delta" if unit == "delta" else "amount"] = out[unit]
            yield f"total {i} in {unit} cheaper everywhere", forged, cheaper
            alone = copy.deepcopy(certificate)
            alone["totals"][i]["out"] = out
            yield f"total {i} in {unit} cheaper than its node", alone, cheaper


RULES = (
    "pure lap br gauss dgauss gdp zcdp adp cap leaf_eps leaf_rho leaf_mu leaf_adp sum_eps sum_rho "
    "sum_mu2 sum_adp site_max site_top rho_to_adp mu_to_adp group pld_adp br_mu free pld_mu2 "
    "pld_eps pld_rho mu_to_eps mu_to_mu2 rho_to_eps rho_to_rho"
)


def _nodes(certificate: Body) -> Iterator[tuple[str, Body]]:
    nodes = certificate["nodes"]
    leaves = [i for i, node in enumerate(nodes) if "statement" in node["in"]]
    for i, node in enumerate(nodes):
        for rule in RULES.split():
            if rule != node["rule"]:
                yield (
                    f"{node['id']} renamed to {rule}",
                    _changed(certificate, lambda c, i=i, r=rule: c["nodes"][i].update(rule=r)),
                )
        yield f"{node['id']} dropped", _changed(certificate, lambda c, i=i: c["nodes"].pop(i))
        yield (
            f"{node['id']} doubled",
            _changed(certificate, lambda c, i=i: c["nodes"].insert(i, c["nodes"][i])),
        )
        yield (
            f"{node['id']} repeated under another name",
            _changed(certificate, lambda c, i=i: c["nodes"].append({**c["nodes"][i], "id": "new"})),
        )
        yield (
            f"{node['id']} with a field more",
            _changed(certificate, lambda c, i=i: c["nodes"][i].update(note="x")),
        )
        yield (
            f"{node['id']} with an input more",
            _changed(certificate, lambda c, i=i: c["nodes"][i]["in"].update(note="x")),
        )
        yield (
            f"{node['id']} with a result more",
            _changed(certificate, lambda c, i=i: c["nodes"][i]["out"].update(tau="1")),
        )
        if "of" in node["in"] and i not in leaves:
            yield (
                f"{node['id']} moved before its parts",
                _changed(certificate, lambda c, i=i: c["nodes"].insert(0, c["nodes"].pop(i))),
            )
        for field in node["in"].keys() - {"bits"}:  # which is 96 where nothing is said
            yield (
                f"{node['id']} without {field}",
                _changed(certificate, lambda c, i=i, f=field: c["nodes"][i]["in"].pop(f)),
            )
        parents = node["in"].get("of") if i not in leaves else None
        for j, _ in enumerate(parents or ()):
            yield (
                f"{node['id']} without its part {j}",
                _changed(certificate, lambda c, i=i, j=j: c["nodes"][i]["in"]["of"].pop(j)),
            )
            yield (
                f"{node['id']} with its part {j} twice",
                _changed(certificate, lambda c, i=i, j=j: _twice(c["nodes"][i]["in"]["of"], j)),
            )
            for often in (2, 3, 4):
                yield (
                    f"{node['id']} with its part {j} alone, {often} times",
                    _changed(
                        certificate,
                        lambda c, i=i, p=parents[j], n=often: c["nodes"][i]["in"].update(
                            of=[p] * n
                        ),
                    ),
                )
            for other in ("l0.0", "nowhere", node["id"], nodes[-1]["id"]):
                if other != node["in"]["of"][j]:
                    yield (
                        f"{node['id']} with {other} as part {j}",
                        _changed(
                            certificate,
                            lambda c, i=i, j=j, o=other: c["nodes"][i]["in"]["of"].__setitem__(
                                j, o
                            ),
                        ),
                    )
        if i not in leaves:
            parents = node["in"]["of"]
            for user in nodes[i + 1 :]:
                for part in user["in"]["of"] if node["id"] in user["in"].get("of", ()) else ():
                    if part != node["id"]:
                        yield (
                            f"{node['id']} takes {part} from {user['id']}",
                            _changed(
                                certificate,
                                lambda c, i=i, p=part, u=user["id"]: _move(c["nodes"], p, u, i),
                            ),
                        )
            for other in nodes[:i]:
                if other["id"] not in parents and "statement" not in other["in"]:
                    yield (
                        f"{node['id']} with {other['id']} as well",
                        _changed(
                            certificate,
                            lambda c, i=i, o=other: c["nodes"][i]["in"]["of"].append(o["id"]),
                        ),
                    )
            yield (
                f"{node['id']} with a part of nothing",
                _changed(certificate, lambda c, i=i: _nothing(c["nodes"], i)),
            )
        free = {"delta"} if i in leaves else set()  # a leaf may claim more than it costs
        for unit in sorted({"eps", "rho", "mu2", "delta"} - free - {*node["out"]}):
            yield (
                f"{node['id']} with little {unit} as well",
                _changed(certificate, lambda c, i=i, u=unit: _little(c["nodes"][i], u)),
            )
        if node["rule"].endswith("_to_adp"):
            part = next(one for one in nodes if one["id"] == node["in"]["of"][0])
            if part["rule"].startswith("sum_"):
                yield (
                    f"{node['id']} takes all parts of {part['id']} at the cost of one",
                    _changed(certificate, lambda c, i=i, p=part: _take_parts(c, i, p)),
                )
    for i in leaves:
        given = nodes[i]["in"]
        changes: dict[str, Any] = {
            "count": [given["count"] + 1, given["count"] - 1, 0, -1, True, "1", 1.0],
            "sensitivity": ["0.5", None, "123"],
            "scale": ["123456", None, "7"],
            "factor": [given["factor"] + 1],
            "width": [given["width"] + 1],
            "rows": [given["rows"] + 1, 0],
            "role": ["cap" if given["role"] != "cap" else ""],
            "of": [["zcdp"]],
            "dataset": ["other"],
            "site": ["other"],
            "statement": ["other"],
            "leaf": [given["leaf"] + 1, -1, True],
            "kind": ["free"],
            "params": [{}, {**given["params"], "x": "1"}],
        }
        for field, values in changes.items():
            for value in values:
                if canonical(value) == canonical(given[field]):
                    continue
                yield (
                    f"{nodes[i]['id']} with {field} {value}",
                    _changed(
                        certificate,
                        lambda c, i=i, f=field, v=value: c["nodes"][i]["in"].update({f: v}),
                    ),
                )
        for j in leaves:
            if i < j:
                yield (
                    f"leaves {i} and {j} swapped",
                    _changed(certificate, lambda c, i=i, j=j: _swap(c["nodes"], i, j)),
                )


def _twice(items: list[Any], i: int) -> None:
    items.append(items[i])


def _little(node: Body, unit: str) -> None:
    node["out"] = {**node["out"], unit: "0." + "0" * 59 + "1"}


def _nothing(nodes: list[Body], i: int) -> None:
    """A node that has no part stands beside the parts of another."""
    empty = {"id": "empty", "rule": nodes[i]["rule"], "in": {"of": []}, "out": {}}
    for unit in nodes[i]["out"]:
        _little(empty, unit)
    nodes[i]["in"]["of"].append("empty")
    nodes.insert(i, empty)


def _move(nodes: list[Body], part: str, user: str, i: int) -> None:
    for node in nodes:
        if node["id"] == user:
            node["in"]["of"].remove(part)
    nodes[i]["in"]["of"].append(part)


def _take_parts(certificate: Body, i: int, part: Body) -> None:
    certificate["nodes"][i]["in"]["of"] = part["in"]["of"]
    certificate["nodes"] = [one for one in certificate["nodes"] if one["id"] != part["id"]]


def _swap(nodes: list[Body], i: int, j: int) -> None:
    nodes[i]["in"], nodes[j]["in"] = nodes[j]["in"], nodes[i]["in"]


def _heads(certificate: Body) -> Iterator[tuple[str, Body]]:
    yield "another plan's hash", {**certificate, "plan_hash": "0" * 64}
    yield "another version", {**certificate, "version": 2}
    yield "another relation", {**certificate, "relation": "add_remove"}
    yield "an unknown field", {**certificate, "extra": 1}
    for field in certificate:
        yield f"no {field}", {k: v for k, v in certificate.items() if k != field}
        for junk in (None, "x", 7, [], {}, [[]], [{}]):
            if certificate[field] != junk:
                yield f"{field} is {junk}", {**certificate, field: junk}
    for i, entry in enumerate(certificate["datasets"]):
        for field in entry:
            yield (
                f"dataset with another {field}",
                _changed(certificate, lambda c, i=i, f=field: c["datasets"][i].update({f: "x"})),
            )
    yield "a dataset less", {**certificate, "datasets": certificate["datasets"][:-1]}
    yield "no totals", {**certificate, "totals": []}
    yield "no nodes", {**certificate, "nodes": []}
    for i, _ in enumerate(certificate["totals"]):
        yield f"total {i} missing", _changed(certificate, lambda c, i=i: c["totals"].pop(i))
        yield f"total {i} twice", _changed(certificate, lambda c, i=i: _twice(c["totals"], i))
        for field, junk in (("dataset", "x"), ("site", "x"), ("node", "x"), ("node", "l0.0")):
            yield (
                f"total {i} with another {field}",
                _changed(
                    certificate, lambda c, i=i, f=field, j=junk: c["totals"][i].update({f: j})
                ),
            )
        yield (
            f"total {i} with a field more",
            _changed(certificate, lambda c, i=i: c["totals"][i].update(note="x")),
        )


WRONG_NUMBERS = (
    "-1 -0.1 +1 1e3 1E3 1e99999999 1e-99999999 nan NaN inf -inf 0 0.0 0/1 1/0 1/-1 1//2 .5 5. 0x1 "
    "1_0 ١ ²"
)


def _numbers(certificate: Body) -> Iterator[tuple[str, Body]]:
    wrong = [
        *WRONG_NUMBERS.split(),
        "",
        " 1",
        "1 ",
        "1\n",
        "9" * 101,
        "0." + "0" * 60 + "1",
        "9" * 10**6,
    ]
    wrong = [*wrong, "1/" + "9" * 10**5, 1, 1.5, None, True, [], {}, float("nan"), float("inf")]
    last = len(certificate["nodes"]) - 1
    for i in (0, last):
        for unit in certificate["nodes"][i]["out"]:
            for value in wrong:

                def put(forged: Body, i: int = i, unit: str = unit, value: Any = value) -> None:
                    out = {**forged["nodes"][i]["out"], unit: value}
                    forged["nodes"][i]["out"] = out
                    for claim in forged["totals"]:
                        if claim["node"] == forged["nodes"][i]["id"]:
                            claim["out"] = out

                yield f"{unit} of node {i} is {str(value)[:12]!r}", _changed(certificate, put)
    for i, node in enumerate(certificate["nodes"]):
        for unit, value in node["out"].items():
            for tail in ("e3", " ", "x", "/1/1"):
                longer = {**node["out"], unit: value + tail}
                yield (
                    f"{unit} of {node['id']} ends in {tail!r}",
                    _changed(certificate, lambda c, i=i, v=longer: c["nodes"][i].update(out=v)),
                )
    for i, node in enumerate(certificate["nodes"]):
        if node["rule"][:4] == "pld_":
            coarse = text(number(node["in"]["h"]) * 8)
            for field, values in (
                ("h", [coarse, "1000", "1/99999999999", "9" * 40, *wrong]),
                ("bits", [0, 1, 95, -96, True, "128", 128.0, None, 10**9, 10**30, [96]]),
            ):
                for value in values if field in node["in"] else ():
                    yield (
                        f"{field} of {node['id']} is {str(value)[:12]!r}",
                        _changed(
                            certificate,
                            lambda c, i=i, f=field, v=value: c["nodes"][i]["in"].update({f: v}),
                        ),
                    )
        if "alpha" in node["in"]:
            for value in ["1", "0.5", "1.0000000000000001", "10000000", *wrong]:
                yield (
                    f"alpha is {str(value)[:12]!r}",
                    _changed(
                        certificate, lambda c, i=i, v=value: c["nodes"][i]["in"].update(alpha=v)
                    ),
                )


def _bytes(certificate: Body) -> Iterator[tuple[str, Any]]:
    data = canonical(certificate)
    yield "blank at the end", data + b" "
    yield "line end at the end", data + b"\n"
    yield "byte order mark", b"\xef\xbb\xbf" + data
    yield "not sorted", json.dumps(certificate, separators=(",", ":")).encode()
    yield "blanks inside", json.dumps(certificate, sort_keys=True).encode()
    yield "a key twice", data[:-1] + b',"version":1}'
    yield "a key twice, first", data.replace(b'{"datasets":', b'{"datasets":[],"datasets":', 1)
    yield "a float version", data.replace(b'"version":1', b'"version":1.0')
    yield "an exponent", data.replace(b'"version":1', b'"version":1e0')
    yield "a huge exponent", data.replace(b'"version":1', b'"version":1e999999999')
    yield "NaN", data.replace(b'"version":1', b'"version":NaN')
    yield "a long count", data.replace(b'"version":1', b'"version":' + b"1" * 10**6)
    yield "a minus zero", data.replace(b'"version":1', b'"version":-0')
    yield "escaped text", data.replace(b'"rule"', b'"\\u0072ule"', 1)
    yield "cut", data[:-1]
    yield "not UTF-8", data.replace(b'"rule"', b'"\xff"', 1)
    yield "UTF-16", data.decode().encode("utf-16")
    yield "nothing", b""
    yield "nested lists", b"[" * 100_000 + b"]" * 100_000
    yield "nested objects", b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    yield "nested deep as a value", {**certificate, "nodes": deep}
    yield "a list", [certificate]
    for junk in (None, 1, 1.5, "x", b"x", [], (), {}, {1: 2}, {"nodes": object()}, {None: {}}):
        yield f"not a certificate: {type(junk).__name__}", junk


def _together(certificate: Body, body: Body) -> Iterator[tuple[str, Body, bytes]]:
    """A leaf made wrong in the plan and in the certificate alike, under the plan's new hash."""
    for i, node in enumerate(certificate["nodes"]):
        given = node["in"]
        if "statement" not in given:
            continue
        name = [*given["params"]][-1]
        low = text(number(given["params"][name]) * F(999, 1000))
        less = {**given["params"], name: low}
        lower = {unit: text(number(cost) * F(999, 1000)) for unit, cost in node["out"].items()}
        changes: list[tuple[str, Body, Body]] = [
            ("a field more", {"group": 3}, {}),
            ("a true count", {"count": True}, {}),
            ("a negative count", {"count": -given["count"]}, {}),
            ("a count of nothing", {"count": 0}, {}),
            ("a wide width", {"width": -1}, {}),
            ("kinds drawn that cannot be", {"of": ["zcdp", "adp"]}, {}),
            ("another parameter", {"params": {**given["params"], "tau": "1"}}, {}),
        ]
        if given["kind"] != "adp":
            pair = _pair(given["params"][name])
            changes.append(("a guarantee with delta", {"kind": "adp", **pair}, {}))
        else:
            for low in ("0", "1", "7", "0.0001"):
                params = {**given["params"], "delta": low}
                changes.append((f"a delta of {low}", {"params": params}, {}))
            changes.append(("no delta", {"params": {name: given["params"][name]}}, {}))
        if given["scale"] is None:
            changes.append(("half a scale", {"sensitivity": "5"}, {}))
            changes.append(("a factor", {"factor": 2}, {}))
        else:
            changes.append(("no sensitivity", {"sensitivity": "0", "params": {name: "0"}}, {}))
            changes.append(("a parameter too low", {"params": less}, lower))
            changes.append(("a cap with a scale", {"role": "cap", "of": [given["kind"]]}, {}))
            changes.append(("a kind without a law", {"kind": "gdp", "params": {"mu": "1/999"}}, {}))
            changes.append(("neither of the two", {"scale": None, "sensitivity": None}, {}))
            if given["kind"] != "pure":
                changes.append(("a factor", {"factor": 2}, {}))
        if given["role"] == "cap":
            changes.append(("a filter that draws nothing", {"of": []}, {}))
        if given["kind"] == "dgauss":
            changes.append(("a small scale", _coarse(given, F(512)), {}))
            changes.append(("a broken scale", _coarse(given, F(4097, 2)), {}))
        if given["site"] is not None:
            changes.append(("an unknown site", {"site": "z"}, {}))
        for what, change, claim in changes:
            forged, other = copy.deepcopy(certificate), copy.deepcopy(body)
            made = forged["nodes"][i]
            made["in"].update(change)
            made["out"].update(claim)
            made["rule"] = "cap" if made["in"]["role"] == "cap" else made["in"]["kind"]
            for one in other["statements"]:
                if one["name"] == given["statement"]:
                    one["leaves"][given["leaf"]].update(change)
            yield f"{node['id']} with {what} in plan and certificate", forged, canonical(other)
    for what, change in (
        ("a relation that is another", {"relation": "add_remove"}),
        ("a person at no site", {"sites": {"max": 0, "members": []}}),
        ("a person without rows", {"unit": {"column": "person", "max": 0}}),
        ("a float", {"rows": 0.5}),
        ("a number that is none", {"rows": float("nan")}),
    ):
        forged, other = copy.deepcopy(certificate), copy.deepcopy(body)
        other["datasets"][0].update(change)
        known = forged["datasets"][0]
        known.update({field: value for field, value in change.items() if field in known})
        for node in forged["nodes"]:
            if node["in"].get("dataset") == known["name"] and "unit" in change:
                node["in"]["rows"] = 0
        yield f"a dataset with {what} in plan and certificate", forged, canonical(other)
    forged, other = copy.deepcopy(certificate), copy.deepcopy(body)
    _twice(forged["datasets"], 0)
    _twice(other["datasets"], 0)
    yield "a dataset twice in plan and certificate", forged, canonical(other)
    if body["datasets"][0]["sites"]:
        forged, other = copy.deepcopy(certificate), copy.deepcopy(body)
        _twice(forged["datasets"][0]["sites"]["members"], 0)
        _twice(other["datasets"][0]["sites"]["members"], 0)
        yield "a site twice in plan and certificate", forged, canonical(other)
    other = copy.deepcopy(body)
    other["statements"].append({**other["statements"][0], "name": "free", "leaves": []})
    yield "a statement without leaves in plan and certificate", certificate, canonical(other)


def _coarse(given: Body, scale: Fraction) -> Body:
    """Another scale for integer noise, with a sensitivity that makes the parameter smaller."""
    ratio = number(given["sensitivity"]) / number(given["scale"]) * F(9, 10)
    mu = ratio * (1 + 1 / (20 * scale**2))
    return {
        "scale": text(scale),
        "sensitivity": text(ratio * scale),
        "params": {"mu": text(mu)},
    }


def _pair(size: str) -> Body:
    made = {"scale": None, "sensitivity": None, "factor": 1, "role": "", "of": []}
    return {**made, "params": {"delta": "0.001", "eps0": size}}


def _plans(body: Body) -> Iterator[tuple[str, Body]]:
    """Plans that cost more, or say something else, than the one the certificate was made for."""

    def changed(change: Any) -> Body:
        forged = copy.deepcopy(body)
        change(forged)
        return forged

    for i, one in enumerate(body["statements"]):
        yield f"statement {i} gone", changed(lambda b, i=i: b["statements"].pop(i))
        yield f"statement {i} twice", changed(lambda b, i=i: _twice(b["statements"], i))
        yield (
            f"statement {i} without leaves",
            changed(lambda b, i=i: b["statements"][i].update(leaves=[])),
        )
        for j, leaf in enumerate(one["leaves"]):
            yield (
                f"leaf {i}.{j} gone",
                changed(lambda b, i=i, j=j: b["statements"][i]["leaves"].pop(j)),
            )
            yield (
                f"leaf {i}.{j} twice",
                changed(lambda b, i=i, j=j: _twice(b["statements"][i]["leaves"], j)),
            )
            for field in leaf:
                for junk in (None, "x", 7, [], {}, "1e9"):
                    if leaf[field] != junk:
                        yield (
                            f"leaf {i}.{j} with {field} {junk!r}",
                            changed(
                                lambda b, i=i, j=j, f=field, v=junk: b["statements"][i]["leaves"][
                                    j
                                ].update({f: v})
                            ),
                        )
            yield (
                f"leaf {i}.{j} with a field more",
                changed(lambda b, i=i, j=j: b["statements"][i]["leaves"][j].update(group=3)),
            )
    for i, entry in enumerate(body["datasets"]):
        yield (
            f"dataset {i} under add_remove",
            changed(lambda b, i=i: b["datasets"][i].update(relation="add_remove")),
        )
        yield (
            f"dataset {i} with more rows a person",
            changed(
                lambda b, i=i: b["datasets"][i]["unit"].update(
                    max=b["datasets"][i]["unit"]["max"] + 1
                )
            ),
        )
        yield (
            f"dataset {i} of another population",
            changed(lambda b, i=i: b["datasets"][i].update(population="others")),
        )
        yield f"dataset {i} gone", changed(lambda b, i=i: b["datasets"].pop(i))
        yield f"dataset {i} twice", changed(lambda b, i=i: _twice(b["datasets"], i))
        if entry["sites"]:
            yield (
                f"dataset {i} with persons at three sites",
                changed(lambda b, i=i: b["datasets"][i]["sites"].update(max=3)),
            )
            yield (
                f"dataset {i} without sites",
                changed(lambda b, i=i: b["datasets"][i].update(sites=None)),
            )
            yield (
                f"dataset {i} with one site twice",
                changed(lambda b, i=i: _twice(b["datasets"][i]["sites"]["members"], 0)),
            )


def _reservations(reservations: list[Body]) -> Iterator[tuple[str, Any]]:
    yield "nothing is reserved", []
    for junk in ("x", 1, [None], [{}], {"a": 1}):
        yield f"reservations are {junk!r}", junk
    for i, entry in enumerate(reservations):
        amount = number(entry["amount"])
        twisted: dict[str, list[Any]] = {
            "key": ["others", None, "d/x"],
            "dataset": ["others"],
            "site": ["x"],
            "unit": ["tau", "mu", None],
            "amount": [
                text(amount * F(999, 1000)),
                text(amount * 2),
                "1e9",
                "-1",
                "nan",
                1.0,
                None,
            ],
        }
        if "delta" in entry:
            twisted["delta"] = ["0.000001", "1", None, "nan"]
        for field, values in twisted.items():
            for value in values:
                wrong = copy.deepcopy(reservations)
                wrong[i][field] = value
                yield f"reservation {i} with {field} {value!r}", wrong
        yield f"reservation {i} twice", [*reservations, entry]
        for key in sorted({other["key"] for other in reservations} - {entry["key"]}):
            yield f"reservation {i} alone with key {key!r}", [{**entry, "key": key}]
