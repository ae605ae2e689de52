#!/usr/bin/env python3
"""A solver as a process, in plain Python without NumPy: projected Gauss-Seidel, block by block.

    stickslip solve frames.h5 --solver-command "mine=python3 block_pgs.py"

Everything on standard input and output is words of 8 bytes, little-endian: integers "q" and reals "d" of the module
struct. docs/pipe.md has the protocol. Print to standard error only."""
import math
import struct
import sys

FREE, BOX, COUPLED, CONE, CONVEX = 1, 2, 4, 8, 16
CONVERGED, NOT_APPLICABLE, DENSE, BY_ROWS = 0, 6, 0, 1
source, sink = sys.stdin.buffer, sys.stdout.buffer


def send(kind, payload=b""):
    sink.write(kind.ljust(8, b"\0") + struct.pack("<q", len(payload)) + payload)
    sink.flush()


def receive():
    head = source.read(16)
    if len(head) < 16:
        sys.exit(0)  # nothing is left to do
    return head[:8].rstrip(b"\0"), source.read(struct.unpack("<q", head[8:])[0])


def reals(values):
    return struct.pack(f"<{len(values)}d", *values)


class Problem:
    """The payload of PROBLEM."""

    def __init__(self, payload):
        self.payload, self.at = payload, 0
        self.n, blocks, form, entries, self.symmetric, self.iterations = self.take("q", 6)
        (self.time_limit,), (self.seed,) = self.take("d", 1), self.take("q", 1)
        n = self.n
        self.b, self.lower, self.upper = self.take("d", n), self.take("d", n), self.take("d", n)
        self.partner, self.factor, self.x = self.take("q", n), self.take("d", n), list(self.take("d", n))
        # law, first, size, mu, mu_rolling, contact, constraint
        self.blocks = [(*self.take("q", 3), *self.take("d", 2), *self.take("q", 2)) for _ in range(blocks)]
        start, column, value = self.take("q", n + 1), self.take("q", entries), self.take("d", entries)
        self.rows = [list(zip(column[start[i]:start[i + 1]], value[start[i]:start[i + 1]])) for i in range(n)]

    def take(self, kind, count):
        values = struct.unpack_from(f"<{count}{kind}", self.payload, self.at)
        self.at += 8 * count
        return values


def to_cone(r, mu):
    """The nearest point of |r_T| <= mu r_N."""
    normal, size = r[0], math.hypot(*r[1:])
    if size <= mu * normal:
        return r
    if mu * size <= -normal:
        return [0.0] * len(r)
    new = (normal + mu * size) / (1.0 + mu * mu)
    return [new] + [t * mu * new / size for t in r[1:]]


def sweep(p):
    x, diagonal = p.x, p.diagonal
    for law, first, size, mu, *_ in p.blocks:
        if law in (CONE, CONVEX):
            a = max(diagonal[first:first + size])
            w = [p.b[i] + sum(v * x[j] for j, v in p.rows[i]) for i in range(first, first + size)]
            if law == CONE:
                w[0] += mu * math.hypot(*w[1:])  # Coulomb's law in De Saxce's form
            x[first:first + size] = to_cone([x[first + k] - w[k] / a for k in range(size)], mu)
            continue
        for i in range(first, first + size):
            if diagonal[i] <= 0.0:
                continue
            new = x[i] - (p.b[i] + sum(v * x[j] for j, v in p.rows[i])) / diagonal[i]
            low, high = p.lower[i], p.upper[i]
            if law == COUPLED:
                bound = p.factor[i] * abs(x[p.partner[i]])
                low, high = max(low, -bound), min(high, bound)
            x[i] = min(max(new, low), high)


def solve(p):
    if any(law in (CONE, CONVEX) and (size == 5 or math.isinf(mu)) for law, _, size, mu, *_ in p.blocks):
        return NOT_APPLICABLE, b"rolling friction and infinite friction are left as an exercise"
    p.diagonal = [sum(v for j, v in p.rows[i] if j == i) for i in range(p.n)]
    while True:
        sweep(p)
        send(b"ITERATE", reals(p.x))
        if receive()[0] == b"STOP":
            return CONVERGED, b""


while True:
    kind, payload = receive()
    if kind == b"HELLO":  # version 1, laws, no needs, A by rows
        send(b"HELLO", struct.pack("<4q", 1, FREE | BOX | COUPLED | CONE | CONVEX, 0, BY_ROWS))
    elif kind == b"PROBLEM":
        problem = Problem(payload)
        status, text = solve(problem)
        send(b"DONE", struct.pack("<q", status) + reals(problem.x) + struct.pack("<q", len(text)) +
             text.ljust(-(-len(text) // 8) * 8, b"\0"))
