// MuJoCo 3.x (float64): contacts, joints and all forces before the step is integrated. Its contacts are soft; ball joints are
// equality constraints ("connect") between free bodies, soft as well.
import load from "@mujoco/mujoco";

import { velocityRules } from "../scenes.mjs";

export async function open(scene, gravity, h) {
  const mujoco = await load();
  const numbers = (list) => list.join(" ");
  const friction = `friction="${scene.mu} 0 0" condim="3"`;
  const bodies = scene.bodies.map(({ shape, size, mass, position }, i) => {
    const half = shape === "sphere" ? size : size.map((edge) => edge / 2);
    return `<body name="b${i}" pos="${numbers(position)}"><freejoint/>` +
      `<geom name="g${i}" type="${shape}" size="${numbers(half)}" mass="${mass}" ${friction}/></body>`;
  });
  const joints = scene.joints.map(({ a, b, point }) => {
    const [first, second] = a < 0 ? [b, a] : [a, b]; // the first must be a body of ours; anchors are in its frame
    const anchor = point.map((p, i) => p - scene.bodies[first].position[i]);
    return `<connect body1="b${first}" ${second < 0 ? "" : `body2="b${second}"`} anchor="${numbers(anchor)}"/>`;
  });
  const skip = scene.joints.filter(({ a }) => a >= 0).map(({ a, b }) => `<exclude body1="b${a}" body2="b${b}"/>`);
  const xml = `<mujoco><option timestep="${h}" gravity="${numbers(gravity)}" cone="elliptic" solver="Newton"/><worldbody>` +
    `<geom name="ground" type="plane" size="20 20 .1" ${friction}/>${bodies.join("")}</worldbody>` +
    `<equality>${joints.join("")}</equality><contact>${skip.join("")}</contact></mujoco>`;
  const model = mujoco.MjModel.from_xml_string(xml);
  const data = new mujoco.MjData(model);
  scene.bodies.forEach(({ velocity = [], push }, i) => {
    velocity.forEach((value, k) => { data.qvel[6 * i + k] = value; }); // unturned: body and world frames agree
    if (push) push.forEach((value, k) => { data.xfrc_applied[6 * (i + 1) + k] = value; });
  });

  const state = () => scene.bodies.map((_, i) => {
    const q = Array.from(data.qpos.slice(7 * i, 7 * i + 7)), v = Array.from(data.qvel.slice(6 * i, 6 * i + 6));
    const [w, x, y, z] = q.slice(3);
    const R = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z), 1 - 2 * (x * x + z * z),
               2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)];
    const spin = [0, 1, 2].map((r) => R[3 * r] * v[3] + R[3 * r + 1] * v[4] + R[3 * r + 2] * v[5]); // it is in the body's frame
    return { position: q.slice(0, 3), quaternion: q.slice(3), velocity: [...v.slice(0, 3), ...spin] };
  });

  return {
    toolkit: `MuJoCo ${mujoco.mj_versionString()} (npm, WebAssembly, float64)`,
    solver: "mujoco-newton",
    rules: velocityRules,
    notes: "elliptic cones, Newton, soft contacts and soft equality constraints with MuJoCo's default solref and solimp; " +
      "Euler integration. Impulses are forces times h.",
    gyroscopic: true,
    state,
    step() {
      mujoco.mj_step1(model, data);
      const found = [];
      const contacts = data.contact; // a copy, as is each of its elements: both are ours to delete
      for (let k = 0; k < data.ncon; k++) {
        const contact = contacts.get(k);
        if (contact.efc_address < 0) { // not in the problem
          contact.delete();
          continue;
        }
        const frame = Array.from(contact.frame);
        found.push({
          a: model.geom_bodyid[contact.geom1] - 1, b: model.geom_bodyid[contact.geom2] - 1, point: Array.from(contact.pos),
          normal: frame.slice(0, 3), tangents: [frame.slice(3, 6), frame.slice(6, 9)], gap: contact.dist,
          row: contact.efc_address,
        });
        contact.delete();
      }
      contacts.delete();
      mujoco.mj_step2(model, data);
      const force = Array.from(data.efc_force);
      const normal = found.map(({ row }) => h * force[row]);
      const tangent = found.map(({ row, tangents: [u, v] }) => u.map((x, i) => h * (force[row + 1] * x + force[row + 2] * v[i])));
      // equality rows come first, three per joint: the point on body1 minus that on body2
      const lambda = scene.joints.flatMap(({ a }, j) => [0, 1, 2].map((k) => (a < 0 ? h : -h) * force[3 * j + k]));
      return { contacts: found.map(({ tangents, row, ...contact }) => contact), normal, tangent, lambda };
    },
  };
}
