// Rapier (float32): contacts of the step just made, with normal impulses. Friction impulses are given out along tangents that are
// not, and joints give out none: both are left out.
import RAPIER from "@dimforge/rapier3d-compat";

import { velocityRules } from "../scenes.mjs";

const vector = ([x, y, z]) => ({ x, y, z });
const array = ({ x, y, z }) => [x, y, z];

export async function open(scene, gravity, h) {
  const warn = console.warn; // its loader complains about its own packaging
  console.warn = () => {};
  await RAPIER.init();
  console.warn = warn;
  const world = new RAPIER.World(vector(gravity));
  world.timestep = h;
  const ground = world.createCollider(RAPIER.ColliderDesc.cuboid(20, 20, 0.5).setTranslation(0, 0, -0.5).setFriction(scene.mu));
  const number = new Map([[ground.handle, -1]]);
  const bodies = scene.bodies.map(({ shape, size, mass, position, velocity, push }, i) => {
    const body = world.createRigidBody(RAPIER.RigidBodyDesc.dynamic().setTranslation(...position).setCanSleep(false));
    const desc = shape === "sphere" ? RAPIER.ColliderDesc.ball(size[0]) : RAPIER.ColliderDesc.cuboid(...size.map((s) => s / 2));
    const collider = world.createCollider(desc.setMass(mass).setFriction(scene.mu), body);
    number.set(collider.handle, i);
    if (velocity) {
      body.setLinvel(vector(velocity.slice(0, 3)), true);
      body.setAngvel(vector(velocity.slice(3)), true);
    }
    if (push) body.addForce(vector(push), true);
    return body;
  });
  const anchor = world.createRigidBody(RAPIER.RigidBodyDesc.fixed());
  for (const { a, b, point } of scene.joints) {
    const local = (k) => vector(k < 0 ? point : point.map((p, i) => p - scene.bodies[k].position[i]));
    const of = (k) => (k < 0 ? anchor : bodies[k]);
    const joint = world.createImpulseJoint(RAPIER.JointData.spherical(local(a), local(b)), of(a), of(b), true);
    joint.setContactsEnabled(false);
  }

  return {
    toolkit: `Rapier ${RAPIER.version()} (npm, WebAssembly, float32)`,
    solver: "rapier",
    rules: velocityRules,
    notes: `${world.numSolverIterations} solver iterations, other settings as they come. ` + "Rapier gives out normal impulses of contacts; friction impulses and joint impulses are not stored. Contacts are " +
      "those after the step.",
    state: () => bodies.map((body) => {
      const { w, x, y, z } = body.rotation();
      const length = Math.hypot(w, x, y, z); // unit in float32 only
      return {
        position: array(body.translation()),
        quaternion: [w, x, y, z].map((q) => q / length),
        velocity: [...array(body.linvel()), ...array(body.angvel())],
      };
    }),
    step() {
      world.step();
      const contacts = [], normal = [], seen = new Set();
      for (const collider of [...number.keys()].map((handle) => world.getCollider(handle))) {
        world.contactPairsWith(collider, (other) => {
          const key = [collider.handle, other.handle].sort().join();
          if (seen.has(key)) return;
          seen.add(key);
          world.contactPair(collider, other, (manifold, flipped) => {
            const n = array(manifold.normal()), length = Math.hypot(...n);
            const [a, b] = (flipped ? [other, collider] : [collider, other]).map(({ handle }) => number.get(handle));
            const points = Math.min(manifold.numContacts(), manifold.numSolverContacts());
            for (let k = 0; k < points; k++) {
              contacts.push({ a, b, point: array(manifold.solverContactPoint(k)), normal: n.map((x) => x / length),
                              gap: manifold.contactDist(k) });
              normal.push(manifold.contactImpulse(k));
            }
          });
        });
      }
      return { contacts, normal };
    },
  };
}
