function sim = rpisim_scene(name, n)
% sim = rpisim_scene(name, n)   scenes for bench_rpisim, in the functions of RPIsim's release alone, so that both can run them
%
%   'spheres'   n balls in rows on a plane, each above its place by 1 mm
%   'boxes'     n boxes on a plane, slightly apart
%   'stack'     n boxes on each other, each turned a little against the one below
%   'pendulum'  n rods in a chain of spherical joints
  sim = Simulator(0.01);
  sim.draw = false;
  sim.num_fricdirs = 4;
  sim.H_dynamics = @LCPdynamics;
  sim.H_solver = @Lemke;
  bodies = Body_plane([0; 0; 0], [0; 0; 1]);
  switch name
    case 'spheres'
      for k = 1:n
        ball = Body_sphere(1, 0.2);
        ball.u = [0.5 * mod(k - 1, 10); 0.5 * floor((k - 1) / 10); 0.201];
        ball.nu(1) = 0.1;
        bodies = [bodies, ball];
      end
    case 'boxes'
      for k = 1:n
        box = mesh_cube();
        box.u = [1.3 * mod(k - 1, 10); 1.3 * floor((k - 1) / 10); 0.501];
        box.nu(1) = 0.1;
        bodies = [bodies, box];
      end
    case 'stack'
      for k = 1:n
        box = mesh_cube();
        box.u = [0; 0; 0.501 + 1.001 * (k - 1)];
        box.quat = qt([0; 0; 1], 0.3 * k);
        bodies = [bodies, box];
      end
    case 'pendulum'
      bodies.u = [0; 0; -100];
      for k = 1:n
        rod = mesh_rectangularBlock(0.4, 0.05, 0.05);
        rod.u = [0.25 + 0.5 * (k - 1); 0; 0];
        bodies = [bodies, rod];
      end
  end
  sim = sim_addBody(sim, bodies);
  if strcmp(name, 'pendulum')
    for k = 1:n
      sim = sim_addJoint(sim, max(1, k), k + 1, [0.5 * (k - 1); 0; 0], [0; 1; 0], 'spherical');
    end
  end
end
