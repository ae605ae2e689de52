#!/usr/bin/env bash
# npm test   every engine on every scene: `check` finds no fault and no warning. SS_PROGRAM: the program, else that of the release build.
set -euo pipefail
cd "$(dirname "$0")"
program=${SS_PROGRAM:-../../build/release/stickslip}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
for engine in mujoco rapier jolt physx; do
    for scene in column slide chain press wall; do
        node record.mjs "$engine" "$scene" "${STEPS:-50}" | "$program" import - "$folder/$engine-$scene.h5" --quiet
        "$program" check "$folder/$engine-$scene.h5" --strict | sed "s|^$folder/||"
    done
done
# MuJoCo gives out everything: momentum must balance with its own answer, to rounding
"$program" judge "$folder/mujoco-column.h5" --json | node -e '
    const judged = JSON.parse(require("node:fs").readFileSync(0));
    const worst = Math.max(...judged.answers.map((answer) => answer.metrics.momentum.value));
    console.log(`MuJoCo: momentum error at most ${worst} J`);
    process.exit(worst < 1e-12 ? 0 : 1);'
