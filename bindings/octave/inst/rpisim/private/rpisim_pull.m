function sim = rpisim_pull(w, sim)
% rpisim_pull  Where the bodies and joints are after a step.
  s = stickslip_mex('world_state', w.id);
  u = num2cell(s.positions, 1);
  quat = num2cell(s.quaternions, 1);
  [sim.bodies.u] = u{:};
  [sim.bodies.quat] = quat{:};
  moving = find([sim.bodies.dynamic]);
  if isempty(moving)
    return
  end
  nu = num2cell(s.velocities(:, moving), 1);
  [sim.bodies(moving).nu] = nu{:};

  % As body_updateMesh does, for all at once.
  is_mesh = strcmp({sim.bodies(moving).type}, 'mesh');
  meshes = moving(is_mesh);
  transposed = rotations(s.quaternions(:, meshes));
  vertices = cell(1, numel(meshes));
  low = cell(1, numel(meshes));
  high = low;
  for k = 1:numel(meshes)
    B = sim.bodies(meshes(k));
    vertices{k} = bsxfun(@plus, B.verts_local * reshape(transposed(:, k), 3, 3), B.u');
    low{k} = min(vertices{k}, [], 1);
    high{k} = max(vertices{k}, [], 1);
  end
  if ~isempty(meshes)
    [sim.bodies(meshes).verts_world] = vertices{:};
    [sim.bodies(meshes).AABB_min] = low{:};
    [sim.bodies(meshes).AABB_max] = high{:};
  end
  balls = moving(~is_mesh);
  if ~isempty(balls)
    radii = [sim.bodies(balls).radius];
    low = num2cell(bsxfun(@minus, s.positions(:, balls), radii)', 2);
    high = num2cell(bsxfun(@plus, s.positions(:, balls), radii)', 2);
    [sim.bodies(balls).AABB_min] = low{:};
    [sim.bodies(balls).AABB_max] = high{:};
  end
  for j = 1:numel(sim.joints)
    sim = updateJoint(sim, j);
  end
end

% The transposed rotation matrix of each quaternion, as a column of 9.
function R = rotations(q)
  w = q(1, :);
  x = q(2, :);
  y = q(3, :);
  z = q(4, :);
  R = [1 - 2 * (y .* y + z .* z); 2 * (x .* y - w .* z); 2 * (x .* z + w .* y)
       2 * (x .* y + w .* z); 1 - 2 * (x .* x + z .* z); 2 * (y .* z - w .* x)
       2 * (x .* z - w .* y); 2 * (y .* z + w .* x); 1 - 2 * (x .* x + y .* y)];
end
