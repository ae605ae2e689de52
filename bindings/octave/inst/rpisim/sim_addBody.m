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
    B = complete(bodies(k), Body());
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
      sim.bodies = complete(sim.bodies, B);
      sim.bodies(end + 1) = orderfields(complete(B, sim.bodies(1)), sim.bodies(1));
    end
  end
end

% Bodies from old files may lack fields, and scripts may add some: missing ones are taken from a pattern.
function bodies = complete(bodies, pattern)
  names = fieldnames(pattern);
  for k = 1:numel(names)
    if ~isfield(bodies, names{k})
      [bodies.(names{k})] = deal(pattern.(names{k}));
    end
  end
end
