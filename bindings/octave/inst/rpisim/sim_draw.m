function sim = sim_draw(sim)
% sim = sim_draw(sim)   draws bodies, and contacts and joints if asked for, in figure sim.figure
%
% sim_run does it after every step if sim.draw is set and there is a display. Contacts (sim.drawContacts) are red where
% bodies overlap and green where they do not touch; joints (sim.drawJoints) show the frames of both bodies.
%
% Example:
%   sim = sim_draw(sim);
%
% See also sim_run, sim_replay
  first = isempty([sim.bodies.graphicsHandle]);
  if first
    sim.figure = figure();
    hold on
    axis equal
    view(3);
    grid on
    xlabel('x');
    ylabel('y');
    zlabel('z');
  elseif ~ishghandle(sim.figure)
    return
  end
  set(0, 'CurrentFigure', sim.figure); % a user function may have opened others
  for k = 1:numel(sim.bodies)
    B = sim.bodies(k);
    if ~B.visible
      continue
    end
    [vertices, faces] = skin(B);
    if first
      sim.bodies(k).graphicsHandle = patch('Vertices', vertices, 'Faces', faces, 'FaceColor', B.color(:)', ...
                                           'FaceAlpha', B.facealpha, 'EdgeAlpha', B.edgealpha);
    elseif B.dynamic || ~isempty(sim.userFunction)
      set(B.graphicsHandle, 'Vertices', vertices);
    end
  end

  % What changes in number from step to step is drawn again.
  delete(findobj(sim.figure, 'Tag', 'rpisim'));
  if sim.drawContacts
    for c = 1:numel(sim.contacts)
      C = sim.contacts(c);
      colours = 'gr';
      tip = [C.p1; C.p1 + 0.2 * C.normal];
      plot3(tip(:, 1), tip(:, 2), tip(:, 3), [colours(1 + (C.psi_n < 0)) '-o'], 'Tag', 'rpisim');
    end
  end
  if sim.drawJoints
    for j = 1:numel(sim.joints)
      J = sim.joints(j);
      for ends = {[J.P1, J.X1], [J.P1, J.Y1], [J.P1, J.Z1], [J.P2, J.X2], [J.P2, J.Y2], [J.P2, J.Z2]}
        e = ends{1};
        plot3(e(1, :), e(2, :), e(3, :), 'k-', 'Tag', 'rpisim');
      end
      text(J.P1(1), J.P1(2), J.P1(3), sprintf('%d', j), 'Tag', 'rpisim');
    end
  end
  title(sprintf('Timestep: %d', sim.step));
  drawnow();
end

% Triangles: Octave's gnuplot toolkit draws no others.
function [vertices, faces] = skin(B)
  switch B.type
    case 'mesh'
      vertices = B.verts_world;
      faces = B.faces(:, 1:3);
    case 'plane'
      t = arbitraryTangent(B.plane_normal);
      s = cross3(B.plane_normal(:), t);
      vertices = repmat(B.u(:)', 4, 1) + 3 * [t + s, s - t, -t - s, t - s]';
      faces = [1 2 3; 1 3 4];
    otherwise
      n = max(3, B.num_sphere_verts);
      [x, y, z] = sphere(n);
      vertices = B.radius * [x(:), y(:), z(:)] * qt2rot(B.quat)' + repmat(B.u(:)', numel(x), 1);
      [i, j] = meshgrid(1:n, 1:n);
      corner = i(:) + (n + 1) * (j(:) - 1);
      faces = [corner, corner + 1, corner + n + 2; corner, corner + n + 2, corner + n + 1];
  end
end
