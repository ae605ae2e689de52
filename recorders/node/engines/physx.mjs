// PhysX 5 (float32): contact points and normal impulses from its contact reports, after the step. Friction is solved at anchors of
// its own and not reported; joints give out no impulses here: both are left out.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import load from "physx-js-webidl";

import { velocityRules } from "../scenes.mjs";

// The package is built for browsers: it refuses to start where there is a `process`, looks for a window, and would fetch the
// file that it is given here.
async function loadAsInBrowser(folder) {
  const wasmBinary = readFileSync(join(folder, "physx-js-webidl.wasm")), { process } = globalThis;
  globalThis.window ??= globalThis;
  globalThis.process = undefined;
  try {
    return await load({ wasmBinary });
  } finally {
    globalThis.process = process;
  }
}

export async function open(scene, gravity, h) {
  const folder = dirname(createRequire(import.meta.url).resolve("physx-js-webidl"));
  const px = await loadAsInBrowser(folder);
  const top = px.PxTopLevelFunctions.prototype;
  const foundation = top.CreateFoundation(top.PHYSICS_VERSION, new px.PxDefaultAllocator(), new px.PxDefaultErrorCallback());
  const physics = top.CreatePhysics(top.PHYSICS_VERSION, foundation, new px.PxTolerancesScale());
  top.InitExtensions(physics);
  const vector = (v) => new px.PxVec3(...v);

  const desc = new px.PxSceneDesc(physics.getTolerancesScale());
  desc.gravity = vector(gravity);
  desc.cpuDispatcher = top.DefaultCpuDispatcherCreate(0);
  const shader = new px.PassThroughFilterShaderImpl();
  const { eCONTACT_DEFAULT, eNOTIFY_TOUCH_FOUND, eNOTIFY_TOUCH_PERSISTS, eNOTIFY_CONTACT_POINTS } = px.PxPairFlagEnum;
  const report = eCONTACT_DEFAULT | eNOTIFY_TOUCH_FOUND | eNOTIFY_TOUCH_PERSISTS | eNOTIFY_CONTACT_POINTS;
  shader.filterShader = () => {
    shader.outputPairFlags = report;
    return 0;
  };
  top.setupPassThroughFilterShader(desc, shader);
  let contacts = [], normal = [];
  const number = new Map();
  const buffer = new px.PxArray_PxContactPairPoint(64);
  const array = ({ x, y, z }) => [x, y, z];
  const events = new px.PxSimulationEventCallbackImpl();
  for (const unused of ["onConstraintBreak", "onWake", "onSleep", "onTrigger"]) events[unused] = () => {};
  events.onContact = (header, pairs, count) => {
    const owner = px.wrapPointer(header, px.PxContactPairHeader);
    const [first, second] = [0, 1].map((k) => number.get(owner.get_actors(k).ptr));
    for (let p = 0; p < count; p++) {
      const pair = px.NativeArrayHelpers.prototype.getContactPairAt(px.wrapPointer(pairs, px.PxContactPair), p);
      const points = pair.extractContacts(buffer.begin(), 64);
      for (let k = 0; k < points; k++) {
        const point = buffer.get(k), n = array(point.normal), length = Math.hypot(...n), unit = n.map((x) => x / length);
        // its normal points from the second to the first actor
        contacts.push({ a: second, b: first, point: array(point.position), normal: unit, gap: point.separation });
        const impulse = array(point.impulse);
        normal.push(unit.reduce((sum, x, i) => sum + x * impulse[i], 0));
      }
    }
  };
  desc.simulationEventCallback = events;
  const world = physics.createScene(desc);
  const material = physics.createMaterial(scene.mu, scene.mu, 0);
  const flags = new px.PxShapeFlags(px.PxShapeFlagEnum.eSIMULATION_SHAPE);
  const pose = (position) => new px.PxTransform(vector(position), new px.PxQuat(0, 0, 0, 1));
  const everything = new px.PxFilterData(1, 1, 0, 0);
  const attach = (actor, geometry) => {
    const shape = physics.createShape(geometry, material, true, flags);
    shape.setSimulationFilterData(everything);
    actor.attachShape(shape);
    world.addActor(actor);
  };
  const ground = physics.createRigidStatic(pose([0, 0, -0.5]));
  attach(ground, new px.PxBoxGeometry(20, 20, 0.5));
  number.set(ground.ptr, -1);
  const bodies = scene.bodies.map(({ shape, size, mass, position, velocity }, i) => {
    const body = physics.createRigidDynamic(pose(position));
    attach(body, shape === "sphere" ? new px.PxSphereGeometry(size[0]) : new px.PxBoxGeometry(...size.map((edge) => edge / 2)));
    px.PxRigidBodyExt.prototype.setMassAndUpdateInertia(body, mass);
    body.setAngularDamping(0);
    body.setSleepThreshold(0);
    if (velocity) body.setLinearVelocity(vector(velocity.slice(0, 3)));
    number.set(body.ptr, i);
    return body;
  });
  for (const { a, b, point } of scene.joints) {
    const local = (k) => pose(k < 0 ? point.map((p, i) => p - [0, 0, -0.5][i]) : point.map((p, i) => p - scene.bodies[k].position[i]));
    const of = (k) => (k < 0 ? ground : bodies[k]);
    top.SphericalJointCreate(physics, of(a), local(a), of(b), local(b));
  }

  const version = createRequire(import.meta.url)("physx-js-webidl/package.json").version;
  const sdk = [24, 16, 8].map((shift) => (top.PHYSICS_VERSION >> shift) & 255).join(".");
  return {
    toolkit: `PhysX ${sdk} (npm physx-js-webidl ${version}, WebAssembly, float32)`,
    solver: "physx",
    rules: velocityRules,
    notes: "4 position and 1 velocity iterations and other settings as they come. PhysX gives out normal impulses of contacts; friction and joint impulses are not stored. Contacts are those reported " +
      "after the step.",
    state: () => bodies.map((body) => {
      const { p, q } = body.getGlobalPose(), turn = [q.w, q.x, q.y, q.z], length = Math.hypot(...turn);
      return {
        position: array(p),
        quaternion: turn.map((x) => x / length),
        velocity: [...array(body.getLinearVelocity()), ...array(body.getAngularVelocity())],
      };
    }),
    step() {
      scene.bodies.forEach(({ push }, i) => { if (push) bodies[i].addForce(vector(push)); });
      contacts = [], normal = [];
      world.simulate(h);
      world.fetchResults(true);
      return { contacts, normal };
    },
  };
}
