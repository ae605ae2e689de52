function rpisim_push(w, sim, plan)
% rpisim_push  What a function of the user may have changed goes into the world.
  n = numel(sim.bodies);
  velocities = reshape([sim.bodies.nu], 6, n);
  velocities(:, ~[sim.bodies.dynamic]) = 0; % as in RPIsim, static bodies only move by being put elsewhere
  quaternions = reshape([sim.bodies.quat], 4, n);
  quaternions = quaternions ./ repmat(sqrt(sum(quaternions .^ 2, 1)), 4, 1);
  stickslip_mex('world_set', w.id, 'positions', reshape([sim.bodies.u], 3, n));
  stickslip_mex('world_set', w.id, 'quaternions', quaternions);
  stickslip_mex('world_set', w.id, 'velocities', velocities);
  stickslip_mex('world_set', w.id, 'forces', reshape([sim.bodies.Fext], 6, n));
  gravity = [0; 0; 0];
  if sim.gravity
    gravity = sim.gravityVector(:);
  end
  stickslip_mex('world_gravity', w.id, gravity);
  rpisim_friction(w, sim, plan);
end
