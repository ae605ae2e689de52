function sim = sim_activateBodies(sim, id1, id2)
% sim = sim_activateBodies(sim, id1, id2)   says that two bodies take part in the dynamics of this step
%
% For collision detection of your own; here it is done by preDynamics from the contacts and joints anyway.
%
% See also Contact, preDynamics
  for id = [id1, id2]
    if sim.bodies(id).dynamic && ~sim.bodies(id).active
      sim.num_activeBodies = sim.num_activeBodies + 1;
      sim.bodies(id).active = true;
      sim.bodies(id).bodyContactID = sim.num_activeBodies;
    end
  end
end
