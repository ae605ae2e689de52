// The scenes that every engine gets; column, slide, press and wall are also in recorders/demo, with the same numbers: bodies with one shape each, on a plane z = 0, in SI units, z up.
// A joint is a ball joint at a point of the world; b = -1 is the world. push: constant force on a body, N.

const box = (size, mass, position, more = {}) => ({ shape: "box", size, mass, position, ...more });
const ball = (radius, mass, position, more = {}) => ({ shape: "sphere", size: [radius], mass, position, ...more });

export const scenes = {
  // six boxes at rest: nothing may move
  column: { mu: 0.5, bodies: [0, 1, 2, 3, 4, 5].map((k) => box([0.4, 0.4, 0.2], 4, [0, 0, 0.1 + 0.2 * k])) },

  // a block slides until friction stops it: 0.408 m, 0.408 s with mu = 0.5 and 2 m/s
  slide: { mu: 0.5, bodies: [box([0.4, 0.4, 0.2], 4, [0, 0, 0.1], { velocity: [2, 0, 0, 0, 0, 0] })] },

  // eight balls on ball joints, from a point of the world, released horizontally
  chain: {
    mu: 0.5,
    bodies: [...Array(8).keys()].map((k) => ball(0.05, 0.5, [0.1 + 0.2 * k, 0, 2])),
    joints: [...Array(8).keys()].map((k) => ({ a: k - 1, b: k, point: [0.2 * k, 0, 2] })),
  },

  // two fingers press a heavy box from the sides, and friction carries it: 2 * 60 N * 0.8 > 5 kg * g. Their push holds them and
  // half of the box each
  press: {
    mu: 0.8,
    bodies: [
      box([0.2, 0.2, 0.2], 5, [0, 0, 1]),
      box([0.05, 0.2, 0.1], 1, [-0.125, 0, 1], { push: [60, 0, 34.335] }),
      box([0.05, 0.2, 0.1], 1, [0.125, 0, 1], { push: [-60, 0, 34.335] }),
    ],
  },
};

// a wall of 33 bricks at rest
scenes.wall = {
  mu: 0.6,
  bodies: [0, 1, 2, 3, 4].flatMap((row) => [...Array(7 - (row % 2)).keys()].map((i) =>
    box([0.38, 0.2, 0.2], 3, [0.4 * i + 0.2 * (row % 2), 0, 0.1 + 0.2 * row]))),
};

export const gravity = [0, 0, -9.81];
export const h = 0.01;

// By which an answer is judged: gaps may close within the step, and overlaps and joint errors are not removed by the velocities after
// it. (Jolt, Rapier and PhysX move positions instead, or take back the speed that did it; MuJoCo's contacts are soft.)
export const velocityRules = { formulation: "cone", with: "gap_term=stabilised gamma=0 joint_term=stabilised joint_gamma=0" };

// Moments of inertia about the axes of the body, kg m^2.
export function inertia({ shape, size, mass }) {
  if (shape === "sphere") return Array(3).fill((2 / 5) * mass * size[0] ** 2);
  const [x, y, z] = size.map((edge) => edge * edge);
  return [y + z, x + z, x + y].map((sum) => (mass * sum) / 12);
}

export const add = (a, b) => a.map((value, i) => value + b[i]);
export const subtract = (a, b) => a.map((value, i) => value - b[i]);
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
// v turned by the quaternion q = (w, x, y, z)
export function rotate(q, v) {
  const t = cross(q.slice(1), v).map((value) => 2 * value);
  return add(add(v, t.map((value) => q[0] * value)), cross(q.slice(1), t));
}
