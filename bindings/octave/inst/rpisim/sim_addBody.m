function sim = sim_addBody(sim, bodies)
% sim = sim_addBody(sim, bodies)   adds one body or an array of bodies; they are numbered in the order of adding
%
% The bodies are copied: later changes must be made to sim.bodies(k).
%
% Example:
%   sim = sim_addBody(Simulator(), [Body_plane([0; 0; 0], [0; 0; 1]), Body_sphere(1, 0.5)]);
%
% See also Simulator, sim_addJoint, sim_run
  for k = 1:numel(bodies)
    B = bodies(k);
    sim.num_bodies = sim.num_bodies + 1;
    B.bodyID = sim.num_bodies;
    B.u = B.u(:);
    B.quat = B.quat(:) / norm(B.quat);
    B.nu = B.nu(:);
    B.Fext = B.Fext(:);
    if B.dynamic
      sim.num_dynamicBodies = sim.num_dynamicBodies + 1;
      B.bodyDynamicID = sim.num_dynamicBodies;
    end
    B = body_updateMesh(B);
    if isempty(sim.bodies)
      sim.bodies = B;
    else
      sim.bodies(end + 1) = B;
    end
  end
end
