function c = rpisim_found(sim)
% rpisim_found  Contacts of the user's own collision detection in the form of the library.
  C = sim.contacts;
  n = numel(C);
  c = struct('bodies', zeros(2, n), 'points', zeros(3, n), 'normals', zeros(3, n), 'gaps', zeros(1, n));
  for k = 1:n
    psi = C(k).psi_n(1);
    normal = C(k).normal(1, :);
    c.bodies(:, k) = [C(k).body1_id; C(k).body2_id];
    c.normals(:, k) = normal(:);
    c.points(:, k) = C(k).p1(:) + 0.5 * psi * normal(:);
    c.gaps(k) = psi;
  end
end
