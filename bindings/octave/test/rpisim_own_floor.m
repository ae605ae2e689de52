function sim = rpisim_own_floor(sim)
% rpisim_own_floor   collision detection for the tests: a floor at z = 0.2 below the corners of body 2
  sim.contacts = [];
  vertices = sim.bodies(2).verts_world;
  for k = 1:size(vertices, 1)
    gap = vertices(k, 3) - 0.2;
    if gap < 0.1
      sim.contacts = [sim.contacts, Contact(1, 2, [vertices(k, 1:2), 0.2], [0 0 1], gap)];
      sim = sim_activateBodies(sim, 1, 2);
    end
  end
end
