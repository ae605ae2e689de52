% Mass properties of every constructor of RPIsim against closed forms. The tolerances are rounding: the integrals are exact.
rpisim_setup
tiny = 1e-13;

B = Body_sphere(0.2, 0.1);
near(B.mass, 0.2, 0, 'mass of a sphere');
near(B.J, 0.4 * 0.2 * 0.01 * eye(3), tiny, 'inertia of a sphere');
B = mesh_cube();
near(B.mass, 1, 0, 'mass of a cube');
near(B.J, eye(3) / 6, tiny, 'inertia of a cube');
assert(B.num_verts == 8 && B.num_faces == 12 && B.num_edges == 18);
B = mesh_rectangularBlock(1, 2, 3);
near(B.J, diag([13 10 5]) / 12, tiny, 'inertia of a block');
near(B.verts_local([1 2 3 5], :), [-0.5 -1 -1.5; -0.5 -1 1.5; -0.5 1 -1.5; 0.5 -1 -1.5], tiny, 'vertices of a block');
near([B.AABB_min, B.AABB_max], [-0.5 -1 -1.5 0.5 1 1.5], tiny, 'box around a block');
for n = [3 4 7 20]
  B = mesh_cylinder(n, 2.5, 0.4, 0.7);
  about = 2.5 * 0.4 ^ 2 * (2 + cos(2 * pi / n)) / 6;
  across = about / 2 + 2.5 * 0.7 ^ 2 / 12;
  near(B.mass, 2.5, 0, 'mass of a prism');
  near(B.J, diag([across across about]), tiny, 'inertia of a prism');
end

near(B.verts_local([1 22], :), [0 0 0.35; 0 0 -0.35], tiny, 'vertices 1 and n + 2 of a prism are the centres of its ends');
corner = 0.4 * [cos(pi / 10), sin(pi / 10)];
near(B.verts_local([3 42], :), [corner, 0.35; corner, -0.35], tiny, 'the rings run in opposite directions');

% Regular solids with circumradius 1: m a^2 times 1/20, 1/10, (39 phi + 28)/150, phi^2/10, with edge a.
phi = (1 + sqrt(5)) / 2;
solids = {mesh_tetrahedron(), mesh_octahedron(), mesh_dodecahedron(), mesh_icosahedron()};
edges = [sqrt(8 / 3), sqrt(2), 2 / (sqrt(3) * phi), 1 / sin(2 * pi / 5)];
factors = [1 / 20, 1 / 10, (39 * phi + 28) / 150, phi ^ 2 / 10];
for k = 1:4
  near(solids{k}.mass, 1, 0, 'mass of a solid');
  near(solids{k}.J, factors(k) * edges(k) ^ 2 * eye(3), 1e-12, solids{k}.name);
  near(sqrt(sum(solids{k}.verts_local .^ 2, 2)), 1, tiny, 'circumradius');
end

% Twice as large: eight times the mass, 32 times the inertia. Then another mass.
B = scale_mesh(mesh_cube(), 2);
near(B.mass, 8, 0, 'mass of a larger cube');
near(B.J, eye(3) * 32 / 6, 1e-12, 'inertia of a larger cube');
B = body_setMass(B, 2);
near(B.J, eye(3) * 8 / 6, 1e-12, 'inertia with another mass');

% A mesh off its centre of mass: a corner of a cube, volume 1/6, centre at a quarter of each edge.
B = Body_mesh([0 0 0; 1 0 0; 0 1 0; 0 0 1], [1 3 2; 1 2 4; 1 4 3; 2 3 4]);
B.quat = qt([0 0 1], pi / 2);
[B, centre] = mesh_centre(B);
near(centre, [0.25; 0.25; 0.25], tiny, 'centre');
near(B.u, [-0.25; 0.25; 0.25], tiny, 'the solid stays where it is');
near(B.verts_world(1, :), [0 0 0], tiny, 'its corner too');
near(B.J, 3 / 40 * eye(3) + (ones(3) - eye(3)) / 80, 1e-12, 'inertia of a corner');
state = warning('off', 'stickslip:mesh');
B = Body_mesh([0 0 0; 1 0 0; 0 1 0; 0 0 1], [1 2 3; 1 4 2; 1 3 4; 2 4 3]); % inside out
warning(state);
near(B.J, eye(3), 0, 'without a volume, as in RPIsim');


% Files: from 0 or from 1, quads or triangles.
file = fullfile(getenv('SS_SCRATCH'), 'tetra.poly');
out = fopen(file, 'w');
fprintf(out, '4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n4\n0 2 1\n0 1 3\n0 3 2\n1 2 3\n');
fclose(out);
B = mesh_read_poly_file(file);
assert(B.num_faces == 4 && B.num_edges == 6);

% Planes and quaternions.
B = Body_plane([1; 2; 3], [0; 0; 5]);
assert(~B.dynamic && isequal(B.plane_normal, [0 0 1]) && isequal(B.u, [1; 2; 3]));
near(qtrotate(qt([0 0 1], pi / 2), [1; 0; 0]), [0; 1; 0], tiny, 'a quarter turn');
near(qtmultiply(qt([1 2 3], 0.3), qtinv(2 * qt([1 2 3], 0.3))), [0.5; 0; 0; 0], tiny, 'inverse');
near(rot([1 0 0], pi / 2) * [0; 1; 0], [0; 0; 1], tiny, 'rot');
near(hat([1 2 3]) * [4; 5; 6], cross3([1 2 3], [4 5 6]), 0, 'hat');
