function rpisim_friction(w, sim, plan)
% rpisim_friction  Friction of every pair of bodies, by the rule of the simulation.
  mu = [sim.bodies.mu];
  if plan.no_slip
    mu(:) = 1e20;
  end
  if strcmp(sim.friction_rule, 'geometric')
    stickslip_mex('world_friction', w.id, sqrt(mu), 1);
  elseif strcmp(sim.friction_rule, 'rpisim')
    stickslip_mex('world_friction', w.id, mu, 0.5);
  else
    error('stickslip:usage', 'friction_rule: ''%s'', expected ''rpisim'' or ''geometric''', sim.friction_rule);
  end
end
