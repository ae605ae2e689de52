function [w, plan] = rpisim_world(sim)
% rpisim_world  The world of a simulation in RPIsim's form, and what runs it.
  persistent warned
  plan = rpisim_plan(sim);
  w = ss_world();
  gravity = [0; 0; 0];
  if sim.gravity
    gravity = sim.gravityVector(:);
  end
  stickslip_mex('world_gravity', w.id, gravity);

  % A function of the user may move static bodies.
  may_move = ~isempty(sim.userFunction);
  for k = 1:numel(sim.bodies)
    B = sim.bodies(k);
    body = struct('name', sprintf('%s %d', B.name, k), 'position', B.u(:), 'quaternion', B.quat(:));
    if B.dynamic
      body.kind = 'dynamic';
      body.velocity = B.nu(:);
      body.force = B.Fext(:);
      body.mass = B.mass;
      body.inertia = B.J;
    elseif may_move && ~strcmp(B.type, 'plane')
      body.kind = 'kinematic';
    else
      body.kind = 'static';
    end
    b = stickslip_mex('world_body', w.id, body);

    shape = struct('ghost', ~B.collides, 'colour', colour(B.color));
    switch B.type
      case 'sphere'
        shape.kind = 'sphere';
        shape.size = B.radius;
      case 'plane'
        shape.kind = 'plane';
        shape.quaternion = from_z(B.plane_normal(:));
      case 'mesh'
        shape.vertices = B.verts_local';
        shape.faces = B.faces(:, 1:3)';
        shape.kind = 'hull';
        if ~stickslip_mex('mesh_convex', shape.vertices, shape.faces)
          if B.dynamic
            [shape.vertices, shape.faces] = stickslip_mex('mesh_hull', shape.vertices);
            if isempty(warned)
              warning('stickslip:hull', 'body %d (%s) is not convex: it touches others by its convex hull', k, B.name);
              warned = true;
            end
          else
            shape.kind = 'mesh';
          end
        end
      otherwise
        continue
    end
    stickslip_mex('world_shape', w.id, b, shape);
  end
  for k = 1:numel(sim.bodies)
    for other = sim.bodies(k).doesNotCollideWith(:)'
      if other ~= k && other >= 1 && other <= numel(sim.bodies)
        stickslip_mex('world_separate', w.id, k, other);
      end
    end
  end

  kinds = {'fixed', 'revolute', 'prismatic', 'cylindrical', 'ball'};
  for k = 1:numel(sim.joints)
    J = sim.joints(k);
    stickslip_mex('world_joint', w.id, struct('kind', kinds{J.jointType}, 'a', J.body1id, 'b', J.body2id, ...
                                              'anchor', J.P1, 'axis', J.T1world(1:3, 3)));
  end
  rpisim_friction(w, sim, plan);
end

function c = colour(rgb)
  c = round(255 * max(0, min(1, rgb(1:3))));
  c = max(1, c(1) * 65536 + c(2) * 256 + c(3)); % 0 would mean: choose one
end

% The quaternion that turns z into a unit vector n.
function q = from_z(n)
  if n(3) < -1 + 1e-12
    q = [0; 1; 0; 0];
  else
    q = [1 + n(3); -n(2); n(1); 0];
    q = q / norm(q);
  end
end
