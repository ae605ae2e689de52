// Jolt (float32): contact points and normals from its listener, before it solves. It gives out no impulses: only velocities are
// stored as its answer.
import { createRequire } from "node:module";
import load from "jolt-physics";

import { velocityRules } from "../scenes.mjs";

export async function open(scene, gravity, h) {
  const Jolt = await load();
  const settings = new Jolt.JoltSettings();
  const filter = new Jolt.ObjectLayerPairFilterTable(2); // layer 0: ground, 1: bodies
  filter.EnableCollision(0, 1);
  filter.EnableCollision(1, 1);
  const layers = new Jolt.BroadPhaseLayerInterfaceTable(2, 2);
  [0, 1].forEach((layer) => layers.MapObjectToBroadPhaseLayer(layer, new Jolt.BroadPhaseLayer(layer)));
  settings.mObjectLayerPairFilter = filter;
  settings.mBroadPhaseLayerInterface = layers;
  settings.mObjectVsBroadPhaseLayerFilter = new Jolt.ObjectVsBroadPhaseLayerFilterTable(layers, 2, filter, 2);
  const jolt = new Jolt.JoltInterface(settings);
  const system = jolt.GetPhysicsSystem(), world = system.GetBodyInterface();
  system.SetGravity(new Jolt.Vec3(...gravity));
  const tuning = system.GetPhysicsSettings();

  const number = new Map();
  const make = (shape, position, motion, layer, index, mass) => {
    const creation = new Jolt.BodyCreationSettings(shape, new Jolt.RVec3(...position), new Jolt.Quat(0, 0, 0, 1), motion, layer);
    creation.mFriction = scene.mu;
    creation.mLinearDamping = creation.mAngularDamping = 0;
    creation.mAllowSleeping = false;
    if (mass) {
      creation.mOverrideMassProperties = Jolt.EOverrideMassProperties_CalculateInertia;
      creation.mMassPropertiesOverride.mMass = mass;
    }
    const body = world.CreateBody(creation);
    world.AddBody(body.GetID(), Jolt.EActivation_Activate);
    number.set(body.GetID().GetIndexAndSequenceNumber(), index);
    return body;
  };
  const ground = make(new Jolt.BoxShape(new Jolt.Vec3(20, 20, 0.5), 0), [0, 0, -0.5], Jolt.EMotionType_Static, 0, -1);
  const bodies = scene.bodies.map(({ shape, size, mass, position, velocity }, i) => {
    const form = shape === "sphere" ? new Jolt.SphereShape(size[0])
      : new Jolt.BoxShape(new Jolt.Vec3(...size.map((edge) => edge / 2)), 0);
    const body = make(form, position, Jolt.EMotionType_Dynamic, 1, i, mass);
    if (velocity) body.SetLinearVelocity(new Jolt.Vec3(...velocity.slice(0, 3)));
    return body;
  });
  for (const { a, b, point } of scene.joints) {
    const joint = new Jolt.PointConstraintSettings();
    joint.mSpace = Jolt.EConstraintSpace_WorldSpace;
    joint.mPoint1 = joint.mPoint2 = new Jolt.RVec3(...point);
    system.AddConstraint(joint.Create(a < 0 ? ground : bodies[a], b < 0 ? ground : bodies[b]));
  }

  let contacts = [];
  const array = (v) => [v.GetX(), v.GetY(), v.GetZ()];
  const listen = (first, second, pointer) => {
    const manifold = Jolt.wrapPointer(pointer, Jolt.ContactManifold);
    const [a, b] = [first, second].map((body) => number.get(Jolt.wrapPointer(body, Jolt.Body).GetID().GetIndexAndSequenceNumber()));
    const n = array(manifold.mWorldSpaceNormal), length = Math.hypot(...n), normal = n.map((x) => x / length);
    for (let k = 0; k < manifold.mRelativeContactPointsOn1.size(); k++) {
      const on1 = array(manifold.GetWorldSpaceContactPointOn1(k)), on2 = array(manifold.GetWorldSpaceContactPointOn2(k));
      const gap = normal.reduce((sum, x, i) => sum + x * (on2[i] - on1[i]), 0);
      contacts.push({ a, b, point: on1.map((x, i) => (x + on2[i]) / 2), normal, gap });
    }
  };
  const listener = new Jolt.ContactListenerJS();
  listener.OnContactValidate = () => Jolt.ValidateResult_AcceptAllContactsForThisBodyPair;
  listener.OnContactAdded = listener.OnContactPersisted = listen;
  listener.OnContactRemoved = () => {};
  system.SetContactListener(listener);

  return {
    toolkit: `Jolt ${createRequire(import.meta.url)("jolt-physics/package.json").version} (npm, WebAssembly, float32)`,
    solver: "jolt",
    rules: velocityRules,
    notes: `${tuning.mNumVelocitySteps} velocity and ${tuning.mNumPositionSteps} position steps, other settings as they come. ` + "Jolt gives out no impulses: only its velocities are stored. Contacts are those it solves, near ones included.",
    state: () => bodies.map((body) => {
      const q = body.GetRotation(), turn = [q.GetW(), q.GetX(), q.GetY(), q.GetZ()], length = Math.hypot(...turn);
      return {
        position: array(body.GetCenterOfMassPosition()),
        quaternion: turn.map((x) => x / length),
        velocity: [...array(body.GetLinearVelocity()), ...array(body.GetAngularVelocity())],
      };
    }),
    step() {
      scene.bodies.forEach(({ push }, i) => { if (push) bodies[i].AddForce(new Jolt.Vec3(...push)); });
      contacts = [];
      jolt.Step(h, 1);
      return { contacts };
    },
  };
}
