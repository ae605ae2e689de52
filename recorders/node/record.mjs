// node record.mjs ENGINE SCENE [STEPS] | stickslip import - frames.h5
//
// Runs a scene of scenes.mjs in an engine, and writes one line of JSON per step (docs/import.md): state and forces before the
// step, contacts of the step, and velocities after it with the impulses that the engine gives out. Engines are files of
// engines/; each says in `notes` what is missing, and what its numbers mean.
import { scenes, gravity, h, inertia, add, subtract, cross, rotate } from "./scenes.mjs";

const [engineName, sceneName, steps = "200"] = process.argv.slice(2);
if (!scenes[sceneName] || !["rapier", "mujoco", "jolt", "physx"].includes(engineName)) {
  console.error(`usage: node record.mjs rapier|mujoco|jolt|physx ${Object.keys(scenes).join("|")} [STEPS]`);
  process.exit(2);
}
const scene = { joints: [], ...scenes[sceneName] };
const { open } = await import(`./engines/${engineName}.mjs`);
const engine = await open(scene, gravity, h);

const write = (object) => {
  // numbers that JSON does not have are left out by it as null, which import refuses: nothing is hidden
  process.stdout.write(JSON.stringify(object) + "\n");
};

write({
  toolkit: engine.toolkit,
  title: `${sceneName} in ${engine.toolkit}`,
  description: engine.notes,
  keywords: sceneName,
  gravity,
  ...engine.rules,
  shapes: [
    { body: -1, kind: "plane" },
    ...scene.bodies.map(({ shape, size }, body) => ({ body, kind: shape, size })),
  ],
});

// Where a ball joint is attached, in the frames of its bodies; bodies start unturned.
const anchors = scene.joints.map(({ a, b, point }) => ({
  a, b,
  onA: a < 0 ? point : subtract(point, scene.bodies[a].position),
  onB: b < 0 ? point : subtract(point, scene.bodies[b].position),
}));

// Three rows per joint: the point on b minus the point on a, and how it changes with the velocities of a and b.
function jointRows(bodies) {
  return anchors.map(({ a, b, onA, onB }) => {
    const arm = (body, at) => (body < 0 ? [0, 0, 0] : rotate(bodies[body].quaternion, at));
    const rA = arm(a, onA), rB = arm(b, onB);
    const pA = a < 0 ? onA : add(bodies[a].position, rA), pB = b < 0 ? onB : add(bodies[b].position, rB);
    const jacobian = [0, 1, 2].map((k) => {
      const e = [0, 0, 0];
      e[k] = 1;
      const side = (body, r, sign) =>
        body < 0 ? Array(6).fill(0) : [...e, ...cross(r, e)].map((value) => sign * value);
      return [...side(a, rA, -1), ...side(b, rB, 1)];
    });
    return { a, b, jacobian, violation: subtract(pB, pA) };
  });
}

for (let step = 0; step < Number(steps); step++) {
  const before = engine.state();
  const bodies = before.map(({ position, quaternion, velocity }, i) => {
    const { mass, push = [0, 0, 0] } = scene.bodies[i];
    const force = add(gravity.map((g) => mass * g), push), moments = inertia(scene.bodies[i]);
    let torque = [0, 0, 0];
    if (engine.gyroscopic) { // -w x I w, where the engine has it
      const back = [quaternion[0], ...quaternion.slice(1).map((x) => -x)], spin = velocity.slice(3);
      torque = cross(rotate(quaternion, rotate(back, spin).map((w, k) => w * moments[k])), spin);
    }
    return { mass, position, quaternion, local_inertia: moments, velocity, force: [...force, ...torque] };
  });
  const joints = jointRows(before);
  const { contacts, normal, tangent, lambda } = engine.step();
  const after = engine.state();
  const result = { velocities: after.map((body) => body.velocity) };
  if (normal) result.normal = normal;
  if (tangent) result.tangent = tangent;
  if (lambda) result.lambda = lambda;
  write({
    time: step * h, h, bodies, joints,
    contacts: contacts.map((contact) => ({ mu: scene.mu, ...contact })),
    results: { [engine.solver]: result },
  });
}
