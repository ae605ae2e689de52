function rpisim_push(w, sim, before, plan)
% rpisim_push  What a function of the user may have changed since `before` goes into the world.
  n = numel(sim.bodies);
  velocities = reshape([sim.bodies.nu], 6, n);
  velocities(:, ~[sim.bodies.dynamic]) = 0; % as in RPIsim, static bodies only move by being put elsewhere
  quaternions = reshape([sim.bodies.quat], 4, n);
  quaternions = bsxfun(@rdivide, quaternions, sqrt(sum(quaternions .^ 2, 1)));
  stickslip_mex('world_set', w.id, 'positions', reshape([sim.bodies.u], 3, n), 'quaternions', quaternions, ...
                'velocities', velocities, 'forces', reshape([sim.bodies.Fext], 6, n));
  if ~isequal(sim.gravity, before.gravity) || ~isequal(sim.gravityVector, before.gravityVector)
    stickslip_mex('world_gravity', w.id, double(sim.gravity ~= 0) * sim.gravityVector(:));
  end
  if ~isequal([sim.bodies.mu], [before.bodies.mu]) || ~strcmp(sim.friction_rule, before.friction_rule)
    rpisim_friction(w, sim, plan);
  end
end
