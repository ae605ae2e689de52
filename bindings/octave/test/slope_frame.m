function frame = slope_frame(tilt, mu)
% frame = slope_frame(tilt, mu)   a cube of 1 kg and 1 m on four corners, at rest on a slope of `tilt` degrees
  if nargin < 1
    tilt = 10;
  end
  if nargin < 2
    mu = 0.5;
  end
  g = 9.81;
  a = tilt * pi / 180;
  frame.timestep = 0.01;
  frame.bodies.masses = 1;
  frame.bodies.positions = [0; 0; 0.5];
  frame.bodies.quaternions = [1; 0; 0; 0];
  frame.bodies.velocities = zeros(1, 6);
  frame.bodies.forces = [g * sin(a), 0, -g * cos(a), 0, 0, 0];
  frame.bodies.world_inertia_tensors = eye(3) / 6;
  frame.contacts.pairs = [-1 -1 -1 -1; 1 1 1 1];
  frame.contacts.points = [-0.5 0.5 0.5 -0.5; -0.5 -0.5 0.5 0.5; 0 0 0 0];
  frame.contacts.normals = [0 0 0 0; 0 0 0 0; 1 1 1 1];
  frame.contacts.gaps = zeros(1, 4);
  frame.contacts.mu_k = mu * ones(2, 4);
  frame.dialect = 'canonical';
end
