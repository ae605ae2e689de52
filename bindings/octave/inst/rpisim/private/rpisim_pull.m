function sim = rpisim_pull(w, sim)
% rpisim_pull  Where the bodies and joints are after a step.
  s = stickslip_mex('world_state', w.id);
  u = num2cell(s.positions, 1);
  quat = num2cell(s.quaternions, 1);
  [sim.bodies.u] = u{:};
  [sim.bodies.quat] = quat{:};
  moving = find([sim.bodies.dynamic]);
  nu = num2cell(s.velocities(:, moving), 1);
  [sim.bodies(moving).nu] = nu{:};
  for k = moving
    sim.bodies(k) = body_updateMesh(sim.bodies(k));
  end
  for j = 1:numel(sim.joints)
    sim = updateJoint(sim, j);
  end
end
