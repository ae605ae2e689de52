% RPIsim's "hello world", the listing of Figure 8 of its paper (Williams et al. 2013): a peg and a hole between four
% cubes. Only the first line is ours; the rest is a script for RPIsim as it is. MAX_STEP is not set, so that it runs until
% the window is closed, and for 1000 steps where there is no display.
rpisim_setup

% Four static cubes with edge 1 leave a hole of the size of one.
c1 = mesh_cube();
  c1.u = [1; 0; 0];
  c1.dynamic = false;
c2 = mesh_cube();
  c2.u = [-1; 0; 0];
  c2.dynamic = false;
c3 = mesh_cube();
  c3.u = [0; 1; 0];
  c3.dynamic = false;
c4 = mesh_cube();
  c4.u = [0; -1; 0];
  c4.dynamic = false;

% The peg, 5 micrometres smaller on each side.
peg = scale_mesh(mesh_cube(), 0.99999);
  peg.u = [0; 0; 1.5];
  peg.color = [1 0 0];

% Simulate.
sim = Simulator();
sim = sim_addBody(sim, [c1 c2 c3 c4 peg]);
sim = sim_run(sim);
